//! Requests that are under way in one session, by their ids. A cancellation names an id and nothing else, so that a second
//! request of the same id would take the first one out of its reach.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;

use super::frame::Frame;

/// The requests of one session. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct UnderWay(Arc<Mutex<HashSet<RequestId>>>);

/// A request that is under way until this is dropped.
#[derive(Debug)]
pub struct Entered {
    under_way: UnderWay,
    id: RequestId,
}

impl UnderWay {
    fn ids(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a message in. One whose id another request under way has turns into what is wrong with it.
    pub fn enter(&self, frame: Frame) -> (Frame, Option<Arc<Entered>>) {
        let Some(id) = frame.id().cloned() else { return (frame, None) };
        if self.ids().insert(id.clone()) {
            return (frame, Some(Arc::new(Entered { under_way: self.clone(), id })));
        }
        (Frame::twice(id), None)
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.under_way.ids().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_one_requests_alone_until_that_has_ended() {
        let under_way = UnderWay::default();
        let enter = |id: &str| {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            under_way.enter(Frame::read(text.as_bytes()))
        };
        let (frame, first) = enter("7");
        assert!(matches!(frame, Frame::Message(_)) && first.is_some());
        let (frame, second) = enter("7");
        let Frame::Wrong(error) = frame else { panic!("{frame:?}") };
        assert_eq!((error.error.code.0, error.id), (-32600, Some(RequestId::Number(7))));
        // What was refused does not end what is under way.
        drop(second);
        assert!(matches!(enter("7").0, Frame::Wrong(_)));
        assert!(matches!(enter("\"7\"").0, Frame::Message(_)), "a text is another id than a number");
        drop(first);
        assert!(matches!(enter("7").0, Frame::Message(_)));
        let cancel = br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
        assert!(under_way.enter(Frame::read(cancel)).1.is_none());
    }
}
