import assert from 'node:assert/strict';
import type { WholeGateway } from '../testing/whole-gateway.ts';

/** The refusal while a run is in progress. */
export const BUSY = { code: 'BUSY', message: 'An answer is in progress. Wait for its end, or cancel it.' };
/** The refusal of a request. */
export const refused = (message: string) => ({ code: 'INVALID_REQUEST', message });

/** Sends messages one after another; each is answered by itself in capitals. */
export async function say(gateway: WholeGateway, ...messages: string[]): Promise<void> {
  for (const message of messages) {
    gateway.puppet.turn(message.toUpperCase());
    await (await gateway.accept(message))?.ended;
  }
}

/** Sends a message whose run fails without an answer. */
export async function fail(gateway: WholeGateway, message: string): Promise<void> {
  gateway.puppet.turn(new Error('a defect'));
  await (await gateway.accept(message))?.ended;
}

/** The messages with their numbers. */
export const shown = async (gateway: WholeGateway, wsId?: string) => {
  const { messages } = await gateway.call('workstream.history', { wsId: wsId ?? (await gateway.main()) });
  return messages.map(({ seq, content }) => `${seq} ${content}`);
};

/** The texts that the model was sent last. */
export const sent = (gateway: WholeGateway) =>
  gateway.puppet.requests.at(-1)?.messages.map((message) => ('content' in message ? message.content : message.output));

/** Every place where people see the conversation, after checking that they agree. */
export async function seen(gateway: WholeGateway): Promise<string[]> {
  const wsId = await gateway.main();
  const messages = await shown(gateway);
  const { snapshot } = await gateway.call('workstream.get', { wsId });
  assert.deepEqual(
    snapshot.messages.map(({ seq, content }) => `${seq} ${content}`),
    messages,
  );
  assert.equal(snapshot.truncated, false);
  const chat = await gateway.call('chat.history', { sessionKey: 'main' });
  assert.equal(chat.messages.length, messages.length);
  const { workstreams } = await gateway.call('workstream.saved', {});
  assert.equal(workstreams.find((saved) => saved.wsId === wsId)?.messageCount ?? 0, messages.length);
  return messages;
}

/** The events after a call. */
export async function eventsOf(gateway: WholeGateway, work: () => Promise<unknown>) {
  const wsId = await gateway.main();
  const { length } = await gateway.events(wsId);
  await work();
  await gateway.isIdle(wsId);
  return (await gateway.events(wsId)).slice(length);
}
