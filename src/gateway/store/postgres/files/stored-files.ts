import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Clock } from '../../../../clock.ts';
import type { OpenedFile } from '../../../attachments/attachment-files.ts';
import { DamagedRow } from '../../row-checksum.ts';
import type { Statement } from '../../store.ts';
import { inPieces } from './file-pieces.ts';

/** The database in which files are. */
export interface FileRows {
  /** Runs all of them or none. */
  commit(statements: readonly Statement[]): Promise<unknown>;
  read<R>(sql: string, parameters: readonly unknown[]): Promise<R[]>;
  /** Called for each file that has lost bytes, or has others than were stored. */
  onDamage(error: unknown): void;
  clock: Pick<Clock, 'now'>;
}

type Kind = 'attachment' | 'output';

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Files in the database, in pieces, so that neither a write nor a read has more than two pieces in memory. */
export interface StoredFiles {
  /** Rejects with the error of `bytes` or of the database, and then leaves no file, or one that is not complete. */
  write(id: string, bytes: Bytes): Promise<void>;
  /** Undefined for a file that is missing, not complete or has lost pieces. */
  open(id: string): Promise<SizedFile | undefined>;
  /** Up to `length` bytes from a position on; undefined for a file that is missing or not complete. */
  readPart(id: string, part: Part): Promise<{ bytes: Buffer; size: number } | undefined>;
  remove(id: string): Promise<void>;
}

export interface Part {
  offset: number;
  length: number;
}

export interface SizedFile extends OpenedFile {
  size: number;
}

export const createStoredFiles = (rows: FileRows, kind: Kind): StoredFiles => ({
  write: (id, bytes) => write(rows, { id, kind, bytes }),
  async open(id) {
    const [found] = await rows.read<FoundFile>(FIND, [id]);
    if (!found || found.size_bytes !== found.stored) return undefined;
    const { size_bytes: size, sha256 } = found;
    const read = () => readPieces(rows, { id, size, sha256 });
    return {
      size,
      createReadStream: () => Readable.from(read(), { objectMode: false }),
      async readFile() {
        const pieces: Buffer[] = [];
        for await (const piece of read()) pieces.push(piece);
        return Buffer.concat(pieces, size);
      },
      [Symbol.asyncDispose]: async () => undefined, // nothing stays open between two pieces
    };
  },
  async readPart(id, { offset, length }) {
    const [found] = await rows.read<FoundFile>(FIND, [id]);
    if (!found) return undefined;
    const parts = await rows.read<{ bytes: Buffer }>(READ_PART, [id, offset, offset + length]);
    return { bytes: Buffer.concat(parts.map(({ bytes }) => bytes)), size: found.size_bytes };
  },
  async remove(id) {
    await rows.commit([{ sql: 'delete from stored_files where file_id = ?', parameters: [id] }]);
  },
});

interface FoundFile {
  size_bytes: number;
  sha256: string;
  /** The bytes that are there. */
  stored: number;
}

interface Written {
  id: string;
  kind: Kind;
  bytes: Bytes;
}

/** The last piece completes the file in the same transaction. */
async function write({ commit, clock }: FileRows, { id, kind, bytes }: Written): Promise<void> {
  const hash = createHash('sha256');
  // An earlier attempt may have been killed.
  const clear: Statement = { sql: REMOVE_UNFINISHED, parameters: [id] };
  let begin: Statement[] = [clear, { sql: BEGIN, parameters: [id, kind, clock.now()] }];
  let size = 0;
  const save = async (piece: Buffer | undefined, last: Statement[]) => {
    const pieces = piece ? [{ sql: ADD, parameters: [id, size, piece] }] : [];
    await commit([...begin, ...pieces, ...last]);
    begin = [];
    size += piece?.length ?? 0;
  };
  try {
    let held: Buffer | undefined;
    for await (const piece of inPieces(bytes)) {
      if (held) await save(held, []);
      hash.update(piece);
      held = piece;
    }
    const total = size + (held?.length ?? 0);
    await save(held, [{ sql: COMPLETE, parameters: [total, hash.digest('hex'), id], expect: 1 }]);
  } catch (error) {
    // Without a connection, the sweep removes it.
    if (begin.length === 0) await commit([clear]).catch(() => undefined);
    throw error;
  }
}

/** The last piece is passed on only if all of them are what was stored. */
async function* readPieces(
  { read, onDamage }: FileRows,
  { id, size, sha256 }: { id: string; size: number; sha256: string },
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  for (let position = 0; position < size; ) {
    const [found] = await read<{ bytes: Buffer }>(READ, [id, position]);
    const piece = found?.bytes ?? Buffer.alloc(0);
    hash.update(piece);
    position += piece.length;
    const isWhole = position < size ? piece.length > 0 : position === size && hash.digest('hex') === sha256;
    if (!isWhole) {
      const error = new DamagedRow(`the stored file ${id} has lost bytes or was altered`);
      onDamage(error);
      throw error;
    }
    yield piece;
  }
}

const BEGIN = 'insert into stored_files (file_id, kind, created_ms) values (?, ?, ?)';
const ADD = 'insert into stored_pieces (file_id, position, bytes) values (?, ?, ?)';
const COMPLETE = 'update stored_files set size_bytes = ?, sha256 = ? where file_id = ? and size_bytes is null';
const REMOVE_UNFINISHED = 'delete from stored_files where file_id = ? and size_bytes is null';
/** The lengths of pieces are known without reading them. */
const FIND = `select size_bytes, sha256,
    (select coalesce(sum(octet_length(bytes)), 0) from stored_pieces p where p.file_id = f.file_id) as stored
  from stored_files f where file_id = ? and size_bytes is not null`;
const READ = 'select bytes from stored_pieces where file_id = ? and position = ?';
/** Of each piece what lies in the range, from its first byte up to the one before its end. */
const READ_PART = `select substring(bytes from cast(greatest(?2 - position, 0) + 1 as integer)
      for cast(?3 - greatest(?2, position) as integer)) as bytes
  from stored_pieces where file_id = ?1 and position < ?3 and position + octet_length(bytes) > ?2 order by position`;
