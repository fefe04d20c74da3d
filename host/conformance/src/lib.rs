//! What a component of each stage must do whatever it is asked, tried on the real runtime.
//!
//! A [`Case`] is an input, what the host would look up, what a model would reply, and what is demanded: to return within the
//! limits, never to trap, to keep the contract, to come to an end, and to give the same for the same. [`suite`] has the cases of
//! a stage; [`author::read`] those that an author wrote. No model and no database take part.

pub mod author;
mod calls;
mod cases;
mod expect;
mod library;
mod play;
mod scene;

pub use cases::{Case, Replies, suite};
pub use library::{Library, library};
pub use play::{Outcome, Used, play};

#[cfg(test)]
mod tests {
    use airlock_plugin_sdk::fit;
    use airlock_runtime::bounds;

    #[test]
    fn what_a_component_cuts_to_is_what_the_host_allows() {
        assert_eq!(
            (fit::NAME, fit::SENTENCE, fit::TEXT, fit::ANSWER_CHARS),
            (bounds::NAME, bounds::SENTENCE, bounds::TEXT, bounds::ANSWER_CHARS)
        );
    }
}
