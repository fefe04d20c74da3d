//! The one line that makes a component of a stage.

/// Exports types as the stages of this component: `export!(planner: MyPlanner);`, or several at once,
/// `export!(repair: MyRepair, domain: MyRules);`. The words before the colons are the contract's interface names.
///
/// On targets other than `wasm32` it expands to nothing.
#[macro_export]
macro_rules! export {
    ($($interface:ident: $stage:ty),+ $(,)?) => {
        $($crate::export_stage!($interface, $stage);)+
    };
}

/// The glue for one interface. Use [`export!`].
#[doc(hidden)]
#[macro_export]
macro_rules! export_stage {
    (planner, $stage:ty) => {
        $crate::export_step!(planner, export_planner, Planner, PlanInput, PlanStep, $stage);
    };
    (linker, $stage:ty) => {
        $crate::export_step!(linker, export_linker, Linker, LinkInput, LinkStep, $stage);
    };
    (generator, $stage:ty) => {
        $crate::export_step!(generator, export_generator, Generator, GenerateInput, GenerateStep, $stage);
    };
    (repair, $stage:ty) => {
        $crate::export_step!(repair, export_repair, Repairer, RepairInput, RepairStep, $stage);
    };
    (answerer, $stage:ty) => {
        $crate::export_step!(answerer, export_answerer, Answerer, AnswerInput, AnswerStep, $stage);
    };
    (distill, $stage:ty) => {
        $crate::export_step!(distill, export_distill, Distiller, DistillInput, DistillStep, $stage);
    };
    (domain, $stage:ty) => {
        #[cfg(target_arch = "wasm32")]
        #[allow(unsafe_code, unused_qualifications, reason = "generated glue of the canonical ABI")]
        const _: () = {
            use $crate::contract::{distill, domain, sql, types};
            struct Component;
            impl domain::Guest for Component {
                fn canonicalize(
                    question: String,
                    clock: types::Clock,
                ) -> Result<Vec<domain::Canonical>, types::StageError> {
                    $crate::report_panics();
                    <$stage as $crate::DomainAdapter>::canonicalize(&$crate::Imports, question, clock)
                }
                fn review(
                    text: String,
                    facts: sql::Facts,
                    clock: types::Clock,
                ) -> Result<Vec<domain::Finding>, types::StageError> {
                    $crate::report_panics();
                    <$stage as $crate::DomainAdapter>::review(&$crate::Imports, text, facts, clock)
                }
                fn judge(candidate: domain::Candidate) -> Result<domain::Opinion, types::StageError> {
                    $crate::report_panics();
                    <$stage as $crate::DomainAdapter>::judge(&$crate::Imports, candidate)
                }
                fn seed_lessons() -> Result<Vec<distill::LessonCandidate>, types::StageError> {
                    $crate::report_panics();
                    <$stage as $crate::DomainAdapter>::seed_lessons(&$crate::Imports)
                }
            }
    $crate::bindings::domain::export_domain!(Component with_types_in $crate::bindings::domain);
        };
    };
}

/// The glue for an interface whose one function is `run`. Use [`export!`].
#[doc(hidden)]
#[macro_export]
macro_rules! export_step {
    ($interface:ident, $export:ident, $trait:ident, $input:ident, $step:ident, $stage:ty) => {
        #[cfg(target_arch = "wasm32")]
        #[allow(unsafe_code, unused_qualifications, reason = "generated glue of the canonical ABI")]
        const _: () = {
            use $crate::contract::{model, types, $interface};
            struct Component;
            impl $interface::Guest for Component {
                fn run(
                    input: $interface::$input,
                    exchanges: Vec<model::Exchange>,
                ) -> Result<$interface::$step, types::StageError> {
                    $crate::report_panics();
                    let mut step = <$stage as $crate::$trait>::run(&$crate::Imports, input, exchanges)?;
                    $crate::Fit::fit(&mut step);
                    Ok(step)
                }
            }
    $crate::bindings::$interface::$export!(Component with_types_in $crate::bindings::$interface);
        };
    };
}
