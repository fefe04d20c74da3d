-- What each model of an ask cost: one ask may use several, and a day's bill is by model.

ALTER TABLE airlock.asks ADD COLUMN models jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(models) = 'array');
