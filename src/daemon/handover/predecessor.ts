import { type Clock, keepAwake } from '../../clock.ts';
import { StartError } from '../../start-error.ts';
import {
  type AskedAddress,
  type FromSuccessor,
  HANDOVER_VARIABLE,
  SOCKET_DESCRIPTOR,
  toPredecessorMessage,
} from './handover-messages.ts';

/** The process that this one takes over from. */
export interface Predecessor {
  /** The listening socket. */
  readonly descriptor: number;
  /** Throws StartError unless this start was asked for the same address. */
  requireAddress(asked: AskedAddress): void;
  /** Says that this process could start, and resolves when it may. Rejects with StartError if it may not. */
  mayStart(checked: Omit<Extract<FromSuccessor, { type: 'checked' }>, 'type'>): Promise<void>;
  tell(message: FromSuccessor): Promise<void>;
  /**
   * Resolves if the predecessor is killed after the hand-over. It stayed because it is what others watch, so that they believe
   * that the daemon has ended.
   */
  readonly orphaned: Promise<void>;
}

/** The part of `process` that is used. */
export interface SuccessorProcess {
  env: Record<string, string | undefined>;
  connected: boolean;
  send?(message: FromSuccessor, handle: undefined, options: undefined, callback: () => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  once(event: 'disconnect', listener: () => void): unknown;
}

/** Undefined for a process that was not started by a running daemon. */
export function findPredecessor(self: SuccessorProcess): Predecessor | undefined {
  const text = self.env[HANDOVER_VARIABLE];
  delete self.env[HANDOVER_VARIABLE]; // it is not for what this process starts
  if (text === undefined || self.send === undefined) return undefined;
  const former: AskedAddress = JSON.parse(text);
  const go = Promise.withResolvers<void>();
  go.promise.catch(() => undefined); // it may end before this process has checked anything
  const orphaned = Promise.withResolvers<void>();
  let hasBegun = false;
  let hasLeft = false;
  let isServing = false;
  self.on('message', (received) => {
    const message = toPredecessorMessage(received);
    if (message?.type === 'begin') hasBegun = true;
    if (message?.type === 'go') go.resolve();
    if (message?.type === 'leave') hasLeft = true;
  });
  self.once('disconnect', () => {
    if (isServing && !hasLeft) orphaned.resolve();
    // If it was killed while it stopped, nobody else serves.
    if (hasBegun) go.resolve();
    else go.reject(new StartError('The daemon that started this process ended before it handed over.'));
  });
  const tell = (message: FromSuccessor) =>
    new Promise<void>((resolve) => {
      if (message.type === 'serving') isServing = true;
      if (!self.connected || self.send === undefined) return resolve();
      self.send(message, undefined, undefined, () => resolve()); // if it fails, the predecessor is gone
    });
  return {
    descriptor: SOCKET_DESCRIPTOR,
    requireAddress(asked) {
      if (asked.host === former.host && asked.port === former.port) return;
      const words = ({ host, port }: AskedAddress) => `${host}:${port}`;
      throw new StartError(
        `The address has changed from ${words(former)} to ${words(asked)}, but a hand-over keeps the former one. Stop the daemon and start it instead.`,
      );
    },
    async mayStart(checked) {
      await tell({ type: 'checked', version: checked.version, migration: checked.migration });
      await go.promise;
    },
    tell,
    orphaned: orphaned.promise,
  };
}

const PATIENCE_MS = 20_000;
const PAUSE_MS = 10;

/** Waits until `lock` succeeds: the kernel frees the lock of a killed process a moment after its channel. Then `lock` throws. */
export async function untilUnlocked(lock: () => { release(): void }, clock: Clock): Promise<void> {
  const endMs = clock.monotonic() + PATIENCE_MS;
  const { signal } = new AbortController();
  using _ = keepAwake();
  while (clock.monotonic() < endMs) {
    try {
      return lock().release();
    } catch {
      await clock.sleep(PAUSE_MS, signal);
    }
  }
}
