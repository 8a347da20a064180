import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { CutTable } from './schema/schema.ts';

export interface EventColumns {
  ws_id: string;
  offset: number;
  body_json: string;
  created_ms: number;
}

interface CheckedMessage {
  seq: number;
  runId: string | null;
  json: string;
  createdMs: number;
}

/**
 * The checksum stored with an event: the CRC-32 of its body, seeded with a sum of all other columns, including the key.
 * Different seeds always give different CRCs.
 */
export const eventChecksum = ({ ws_id, offset, body_json, created_ms }: EventColumns): number =>
  crc32(body_json, addNumber(addNumber(addText(BASIS, ws_id), offset), created_ms) >>> 0) | 0; // signed, which takes fewer bytes

/** The same for the messages of a workstream. No run and an empty run id are different values. */
export function messageChecksums(wsId: string): (message: CheckedMessage) => number {
  const basis = addText(BASIS, wsId);
  return ({ seq, runId, json, createdMs }) => {
    const key = addNumber(addNumber(basis, seq), createdMs);
    return crc32(json, (runId === null ? key : addText(addNumber(key, 1), runId)) >>> 0) | 0;
  };
}

/** The checksum stored with a cut. */
export function cutChecksum(row: Omit<CutTable, 'checksum'>): number {
  const { ws_id, n, kind, after_seq, to_seq, at_seq, body_json, created_ms } = row;
  return crc32(JSON.stringify([ws_id, n, kind, after_seq, to_seq, at_seq, body_json, created_ms])) | 0;
}

/**
 * FNV-1a, for short columns: another call into zlib would cost more than this sum. It detects every change of a single
 * word.
 */
const BASIS = 0x811c9dc5;
const add = (sum: number, word: number): number => Math.imul(sum ^ word, 0x01000193);

function addText(before: number, text: string): number {
  let sum = before;
  for (let index = 0; index < text.length; index += 1) sum = add(sum, text.charCodeAt(index));
  return sum;
}

const addNumber = (sum: number, value: number): number => add(add(sum, value | 0), (value / 2 ** 32) | 0);

type Row = Readonly<Record<string, unknown>>;

/**
 * Whether the row is unchanged since it was written. Integers are read as bigints, because a damaged column may have
 * any type and size.
 */
export function isIntactEvent({ ws_id, offset, body_json, created_ms, checksum }: Row): boolean {
  if (typeof ws_id !== 'string' || typeof body_json !== 'string') return false;
  if (!isNumber(offset) || !isNumber(created_ms)) return false;
  const columns = { ws_id, offset: Number(offset), body_json, created_ms: Number(created_ms) };
  return isNumber(checksum) && Number(checksum) === eventChecksum(columns);
}

export function isIntactMessage({ ws_id, seq, run_id, body_json, created_ms, checksum }: Row): boolean {
  if (typeof ws_id !== 'string' || typeof body_json !== 'string') return false;
  if (!isNumber(seq) || !isNumber(created_ms) || !(run_id === null || typeof run_id === 'string')) return false;
  const columns = { seq: Number(seq), runId: run_id, json: body_json, createdMs: Number(created_ms) };
  return isNumber(checksum) && Number(checksum) === messageChecksums(ws_id)(columns);
}

/** Whether it is an integer, as the store reads them. */
export const isNumber = (value: unknown): boolean => typeof value === 'bigint' && Number.isSafeInteger(Number(value));

/**
 * Makes the checksums available in SQL, for rows whose key the statement itself chooses: `event_checksum(ws_id,
 * "offset", body_json, created_ms)` and `message_checksum(ws_id, seq, run_id, body_json, created_ms)`.
 */
export function defineChecksums(database: DatabaseSync): void {
  const options = { deterministic: true, directOnly: true, varargs: true, useBigIntArguments: true };
  database.function('event_checksum', options, (...[ws_id, offset, body, created]) =>
    eventChecksum({
      ws_id: String(ws_id),
      offset: Number(offset),
      body_json: String(body),
      created_ms: Number(created),
    }),
  );
  database.function('message_checksum', options, (...[ws_id, seq, run_id, body, created]) =>
    messageChecksums(String(ws_id))({
      seq: Number(seq),
      runId: run_id === null ? null : String(run_id),
      json: String(body),
      createdMs: Number(created),
    }),
  );
}

/** A stored row differs from what was written. */
export class DamagedRow extends Error {
  override readonly name = 'DamagedRow';
}
