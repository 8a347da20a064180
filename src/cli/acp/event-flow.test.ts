import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SubscriptionOptions } from '../../../protocol/client/subscriptions.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { EventFlow } from './event-flow.ts';

const textOf = (event: StreamEvent) => (event.type === 'content' ? event.text : event.type);

/** A flow whose handler waits until it is let go. */
function slowFlow() {
  const opened: SubscriptionOptions[] = [];
  const handled: string[] = [];
  const errors: unknown[] = [];
  let open = 0;
  const gate = Promise.withResolvers<void>();
  const flow = new EventFlow({
    wsId: 'w',
    client: {
      subscribe(_, options) {
        opened.push(options);
        open += 1;
        return {
          cursor: undefined,
          hurry: () => undefined,
          close() {
            open -= 1;
          },
        };
      },
    },
    onSnapshot: async () => void handled.push('snapshot'),
    async onEvent(event) {
      await gate.promise;
      handled.push(textOf(event));
    },
    onError: (error) => errors.push(error),
  });
  return {
    flow,
    opened,
    handled,
    errors,
    isOpen: () => open === 1,
    send: (from: number, to: number) => {
      for (let offset = from; offset <= to; offset += 1)
        opened.at(-1)?.onEvent({ type: 'content', text: String(offset) }, `e:${offset}`);
    },
    letGo: () => gate.resolve(),
  };
}

test('an editor that reads nothing stops the subscription, which continues after the last event', async () => {
  const { flow, opened, handled, isOpen, send, letGo } = slowFlow();
  flow.open();
  send(1, 501);
  assert.equal(isOpen(), true, 'one is being handled, 500 wait');
  send(502, 502);
  assert.equal(isOpen(), false);
  send(503, 900);
  letGo();
  await flow.reached('e:502');
  await new Promise(setImmediate);
  assert.deepEqual([handled.length, handled.at(-1), isOpen(), opened.at(-1)?.after], [502, '502', true, 'e:502']);
  send(503, 504);
  await flow.reached('e:504');
  assert.deepEqual(handled.slice(-2), ['503', '504']);
});

test('nothing is handled after the end, and nobody waits for ever', async () => {
  const { flow, handled, send, letGo, isOpen } = slowFlow();
  flow.open();
  send(1, 3);
  const waiting = flow.reached('e:99');
  flow.close();
  letGo();
  await waiting;
  await new Promise(setImmediate);
  assert.deepEqual([handled, isOpen()], [['1'], false]);
});
