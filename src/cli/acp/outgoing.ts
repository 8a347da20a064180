import type { SessionNotification, SessionUpdate } from '@agentclientprotocol/sdk';

interface OutgoingDeps {
  sessionId: string;
  /** Resolves when the editor's end of the pipe has taken it. */
  send(notification: SessionNotification): Promise<void>;
}

/** The updates of a session, one after the other. */
export interface Outgoing {
  /** Resolves when the pipe has taken them all, so that a caller can wait for a slow editor. */
  send(updates: readonly SessionUpdate[]): Promise<void>;
}

/** A pipe that has ended takes nothing more; the program ends with it. */
export function createOutgoing({ sessionId, send }: OutgoingDeps): Outgoing {
  let last: Promise<void> = Promise.resolve();
  return {
    send(updates) {
      last = last.then(async () => {
        for (const update of updates) await send({ sessionId, update });
      });
      last = last.catch(() => undefined);
      return last;
    },
  };
}
