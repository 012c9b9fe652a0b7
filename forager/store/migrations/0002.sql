-- What a page tells of its story besides title, text and dates: JSON, in which what is not known is left out.

ALTER TABLE versions ADD COLUMN about TEXT;
ALTER TABLE stories ADD COLUMN about TEXT;  -- NULL if it is that of the version
