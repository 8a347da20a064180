/** A position in one workstream's event log: everything up to and including `offset` has been seen. Offsets start at 1. */
export interface Cursor {
  epoch: string;
  offset: number;
}

/** The form on the wire: `<epoch>:<offset>` (HTTP.md, "Resuming"). */
export const formatCursor = ({ epoch, offset }: Cursor): string => `${epoch}:${offset}`;

/** Reads `<epoch>:<offset>`; anything malformed counts as no cursor. */
export function parseCursor(text: string | undefined): Cursor | undefined {
  const match = /^([A-Za-z0-9_-]{1,32}):(\d{1,15})$/.exec(text ?? '');
  return match ? { epoch: match[1] ?? '', offset: Number(match[2]) } : undefined;
}
