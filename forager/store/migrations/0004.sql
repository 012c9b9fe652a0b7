-- Whether the hour of a story's publication is known; of one whose date names only the day, no delay can be told.

ALTER TABLE stories ADD COLUMN exact INTEGER NOT NULL DEFAULT 1;
