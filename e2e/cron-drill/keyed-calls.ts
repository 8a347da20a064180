import { randomUUID } from 'node:crypto';
import type { ParamsInput, Result } from '../../protocol/index.ts';
import type { TestClient } from '../../src/gateway/testing/test-client.ts';

type Keyed = 'cron.add' | 'cron.run';

interface KeyedCall {
  method: Keyed;
  params: object;
  onAnswer(payload: unknown): void;
  isAnswered: boolean;
}

/** Calls with idempotency keys. Each is repeated until it is answered, also after a restart; some are repeated again after that. */
export function createKeyedCalls() {
  const calls: KeyedCall[] = [];
  const ask = async (client: TestClient, call: KeyedCall): Promise<void> => {
    const { ok, payload, error } = await client.request(call.method, call.params);
    if (!ok) throw new Error(`${call.method}: ${error?.code} ${error?.message}`);
    if (!call.isAnswered) call.onAnswer(payload);
    call.isAnswered = true;
  };
  return {
    /** Resolves when the call is answered or the daemon has ended. */
    make<M extends Keyed>(
      client: TestClient,
      method: M,
      wish: { params: ParamsInput<M>; onAnswer(r: Result<M>): void },
    ) {
      const params = { ...wish.params, idempotencyKey: randomUUID() };
      // The answer to this method.
      const call = { method, params, onAnswer: wish.onAnswer as KeyedCall['onAnswer'], isAnswered: false };
      calls.push(call);
      return ask(client, call).catch(unlessAlive(client));
    },
    /** The unanswered calls, and the latest of the others. */
    async repeat(client: TestClient): Promise<void> {
      const again = calls.filter((call, index) => !call.isAnswered || index >= calls.length - 3);
      await Promise.all(again.map((call) => ask(client, call).catch(unlessAlive(client))));
    },
    get unanswered(): number {
      return calls.filter(({ isAnswered }) => !isAnswered).length;
    },
  };
}

/** A killed daemon does not answer; any other error is a failure. */
const unlessAlive =
  ({ socket }: TestClient) =>
  (error: unknown): void => {
    if (socket.readyState === socket.OPEN) throw error;
  };
