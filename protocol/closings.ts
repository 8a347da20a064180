interface ClosingRow {
  /** Never change codes and reasons: clients may depend on them. */
  code: number;
  reason: string;
  /**
   * Who may reconnect automatically. `cookie`: only a client without a token, because another tab of its browser may have
   * logged in again.
   */
  retry: 'anyone' | 'cookie' | 'nobody';
}

/** Why the gateway closes a WebSocket. A test compares PROTOCOL.md's table with this one. */
export const CLOSINGS = {
  no_handshake: { code: 1000, reason: '', retry: 'anyone' }, // a first frame that was not JSON, or none in time
  protocol_mismatch: { code: 1002, reason: 'protocol mismatch', retry: 'nobody' },
  invalid_handshake: { code: 1008, reason: 'invalid handshake', retry: 'nobody' },
  unauthorized: { code: 1008, reason: 'unauthorized', retry: 'cookie' },
  rights_changed: { code: 1008, reason: 'rights changed', retry: 'anyone' }, // the credential is still valid
  slow_consumer: { code: 1008, reason: 'slow consumer', retry: 'anyone' },
  node_replaced: { code: 1008, reason: 'replaced by a newer connection of this node', retry: 'nobody' }, // otherwise both would replace each other forever
  pairing_expired: { code: 1008, reason: 'pairing expired', retry: 'anyone' },
  frame_too_large: { code: 1009, reason: '', retry: 'anyone' }, // sent by the WebSocket library
  handshake_failed: { code: 1011, reason: '', retry: 'anyone' },
  service_restart: { code: 1012, reason: 'service restart', retry: 'anyone' },
  too_many_nodes: { code: 1013, reason: 'too many nodes wait to be paired', retry: 'anyone' },
} as const satisfies Record<string, ClosingRow>;

/** A row of CLOSINGS. */
export type ClosingName = keyof typeof CLOSINGS;

/** Undefined if the network closed the socket, or for a reason that only newer gateways have. */
export const findClosing = (code: number, reason: string): ClosingName | undefined => findIn(CLOSINGS, code, reason);

function findIn<T extends Record<string, ClosingRow>>(rows: T, code: number, reason: string) {
  for (const name in rows) {
    const row = rows[name];
    if (row?.code === code && row.reason === reason) return name;
  }
  return undefined;
}
