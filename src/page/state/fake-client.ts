import { signal } from '@preact/signals';
import type { SubscriptionOptions } from '../../../protocol/client/subscriptions.ts';
import type { PageClient } from './reading/reading.ts';

/** For tests: a client whose answers and events the test provides. */
export function createFakeClient() {
  const calls: [method: string, params: unknown][] = [];
  const answers = new Map<string, (params: unknown) => unknown>();
  const listeners = new Map<string, (payload: never) => void>();
  const subscriptions = new Map<string, SubscriptionOptions>();
  const closed: string[] = [];
  const isOpen = signal(true);
  const client: PageClient = {
    isOpen,
    connect: () => new Promise(() => undefined),
    async call(method, ...[params]) {
      calls.push([method, params]);
      const answer = answers.get(method);
      if (!answer) throw new Error(`no answer to ${method}`);
      return answer(params) as never; // the test gives what the method's contract says
    },
    on(event, listener) {
      listeners.set(event, listener as never); // called only with this event's payload
      return () => listeners.delete(event);
    },
    subscribe(wsId, options) {
      subscriptions.set(wsId, options);
      return { cursor: undefined, hurry: () => undefined, close: () => void closed.push(wsId) };
    },
    retryNow: () => undefined,
    close: () => void closed.push('client'),
  };
  return {
    client,
    /** Whether it is connected. */
    isOpen,
    calls,
    /** Whose subscriptions were closed; `client` for the client itself. */
    closed,
    answer: (method: string, give: (params: never) => unknown) => answers.set(method, give as never),
    emit: (event: string, payload: unknown) => listeners.get(event)?.(payload as never),
    deliver(wsId: string): SubscriptionOptions {
      const options = subscriptions.get(wsId);
      if (!options) throw new Error(`nobody follows ${wsId}`);
      return options;
    },
  };
}
