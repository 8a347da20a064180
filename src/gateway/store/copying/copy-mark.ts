import { isRecord } from '../../../../protocol/is-record.ts';

/** In `meta`: of what a database is a copy. It stays when the copy is complete. */
export interface CopyMark {
  isComplete: boolean;
  /** The place of the source. */
  from: string;
  /** The epoch of the source; null: it had none. */
  epoch: string | null;
  /** The `state` of the source. Rows of an earlier state are copied again. */
  state: string;
}

export const COPY_KEY = 'copy';

/** Undefined for a database that is not a copy. */
export function parseMark(text: string | undefined): CopyMark | undefined {
  if (text === undefined) return undefined;
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) return undefined;
  const { isComplete, from, epoch, state } = value;
  return {
    isComplete: isComplete === true,
    from: String(from),
    epoch: typeof epoch === 'string' ? epoch : null,
    state: String(state),
  };
}

/** Throws for a copy that is not complete: a daemon would show half of the conversations and write between them. */
export function requireWhole(place: string, markText: string | undefined): void {
  const mark = parseMark(markText);
  if (mark === undefined || mark.isComplete) return;
  throw new Error(
    `${place} holds an unfinished copy of ${mark.from}. Run the same headgate store migrate again: it continues where it stopped.`,
  );
}
