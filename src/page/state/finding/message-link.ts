/** A conversation, or one of its messages, as the address of the page names it after `#`. */
export interface Place {
  wsId: string;
  /** The number of the message. */
  seq?: number | undefined;
}

/** The part of an address that opens a place. It names no conversation to a server, because browsers keep it to themselves. */
export const toFragment = ({ wsId, seq }: Place): string =>
  `conversation=${encodeURIComponent(wsId)}${seq === undefined ? '' : `&message=${seq}`}`;

/** Undefined if the address leads to no conversation. */
export function findPlace(fragment: string): Place | undefined {
  const fields = new URLSearchParams(fragment);
  const wsId = fields.get('conversation');
  if (wsId === null || !/^[\w.-]{1,128}$/.test(wsId)) return undefined;
  const seq = /^[1-9]\d{0,8}$/.exec(fields.get('message') ?? '')?.[0];
  return { wsId, ...(seq !== undefined && { seq: Number(seq) }) };
}
