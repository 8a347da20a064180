/*
 * Files in the database. SQLite's store has none of these tables, because its files are in the home (decision 176). The column
 * `position` is the number of bytes before a piece, so that pieces may have any length. Pieces are not compressed: most files
 * are compressed already, and a part of a piece can be read without the rest.
 */
export const storedFiles: readonly string[] = [
  `create table stored_files (
    file_id text collate "C" not null primary key, kind text collate "C" not null, size_bytes bigint,
    sha256 text collate "C", created_ms bigint not null, was_named bigint not null default 0
  )`,
  'create index stored_files_by_kind on stored_files (kind, created_ms)',
  `create table stored_pieces (
    file_id text collate "C" not null references stored_files on delete cascade, position bigint not null,
    bytes bytea not null, primary key (file_id, position)
  )`,
  'alter table stored_pieces alter column bytes set storage external',
  // A file that lost its last row is removed by the next sweep; one that never had a row may belong to a running upload.
  `create function note_named() returns trigger language plpgsql as $$ begin
    update stored_files set was_named = 1 where file_id = old.attachment_id and was_named = 0;
    return null;
  end $$`,
  `create trigger attachments_removed after delete on attachments for each row execute function note_named()`,
];
