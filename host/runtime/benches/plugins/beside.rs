//! Latency of honest calls while a hostile component does its worst beside them, without end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use airlock_runtime::NoServices;

use crate::support::hostile::{Behaviour, World};
use crate::support::inputs::call;
use crate::support::value::Twist;
use crate::support::{Watched, honest, load, question, runtime};
use crate::tails::{Sample, head};

const CALLS: usize = 2_000;

pub fn print() {
    let executor =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    let runtime = runtime(|config| config.limits.compute = Duration::from_millis(200));
    let guest = load(&runtime, &honest());
    let behaviours = [
        Behaviour::EndlessLoop,
        Behaviour::DeepRecursion,
        Behaviour::MemoryGrowth,
        Behaviour::LogFlood,
        Behaviour::LookUpFlood,
        Behaviour::Trap,
        Behaviour::Returns(Twist::HugeText),
        Behaviour::Returns(Twist::LongList),
    ];
    let hostile = load(&runtime, &World::of_contract().guest(&behaviours));
    let honest = |sample: &mut Sample| {
        let input = question();
        sample.take(CALLS, || {
            let services = NoServices::shared();
            executor.block_on(runtime.plan(&guest, services, &input, &[])).unwrap()
        });
    };
    head("An honest call beside a hostile component that is called again and again");
    let mut alone = Sample::default();
    honest(&mut alone);
    let alone = alone.print("alone");
    for (order, behaviour) in behaviours.iter().enumerate() {
        let stop = AtomicBool::new(false);
        let mut sample = Sample::default();
        let ended = std::thread::scope(|scope| {
            let beside = scope.spawn(|| {
                let mut ended = 0_u64;
                while !stop.load(Ordering::Relaxed) {
                    let services = Watched::saying(order as u32);
                    let called = call(&runtime, &hostile, services, "planner", "run");
                    drop(executor.block_on(called));
                    ended += 1;
                }
                ended
            });
            honest(&mut sample);
            stop.store(true, Ordering::Relaxed);
            beside.join().unwrap()
        });
        let median = sample.print(&format!("beside {behaviour:?}, which ended {ended} times"));
        println!("{:<52} {:>10.2} times", "", median / alone);
    }
}
