-- How each ask of a conversation ended. Those of before this are not known.

ALTER TABLE airlock.turns ADD COLUMN outcome text
    CHECK (outcome IN ('answered', 'clarification', 'refused', 'gave_up', 'failed'));
