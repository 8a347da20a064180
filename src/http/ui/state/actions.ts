import { ConnectionLostError } from '../../../../protocol/client/request-error.ts';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { ParamsInput } from '../../../../protocol/index.ts';
import { isCommand } from './commands.ts';
import { prependPage } from './conversation.ts';
import type { Tab } from './tab.ts';
import type { Workstreams } from './workstreams.ts';

interface Port {
  client: Pick<GatewayClient, 'call'>;
  workstreams: Pick<Workstreams, 'show'>;
  newKey(): string;
}

const PAGE_MESSAGES = 100;

/** What a person can do in a conversation. A failure ends as the tab's `problem`, never as an exception. */
export function createActions({ client, workstreams, newKey }: Port) {
  const attempt = async (tab: Tab, run: () => Promise<unknown>): Promise<boolean> => {
    tab.problem.value = undefined;
    try {
      await repeatAfterLoss(run);
      return true;
    } catch (error) {
      tab.problem.value = error instanceof Error ? error.message : String(error);
      return false;
    }
  };

  return {
    /** Sends the draft. It stays in the composer when the daemon did not take it. */
    async submit(tab: Tab): Promise<void> {
      const text = tab.draft.peek().trim();
      if (text === '' || tab.sending.peek() !== undefined) return;
      tab.draft.value = '';
      tab.sending.value = text;
      const idempotencyKey = newKey();
      const taken = await attempt(tab, () =>
        isCommand(text) ? command(tab, text) : send(tab, { message: text, idempotencyKey }),
      );
      tab.sending.value = undefined;
      if (!taken && tab.draft.peek() === '') tab.draft.value = text;
    },

    cancel: (tab: Tab, force: boolean) =>
      attempt(tab, () => client.call('workstream.cancel', { wsId: tab.wsId, ...(force ? { force } : {}) })),

    decide: (tab: Tab, decision: ParamsInput<'approval.resolve'>) =>
      attempt(tab, () => client.call('approval.resolve', decision)),

    update: (tab: Tab, change: Omit<ParamsInput<'workstream.update'>, 'wsId'>) =>
      attempt(tab, () => client.call('workstream.update', { wsId: tab.wsId, ...change })),

    /** Why not, or undefined when it was done. An empty name goes back to the generated one. */
    async rename(tab: Tab, name: string): Promise<string | undefined> {
      try {
        await client.call('workstream.update', { wsId: tab.wsId, name });
        return undefined;
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },

    loadEarlier: (tab: Tab) =>
      attempt(tab, async () => {
        const before = tab.conversation.peek()?.firstSeq;
        if (before === undefined) return;
        const page = await client.call('workstream.history', { wsId: tab.wsId, before, limit: PAGE_MESSAGES });
        const shown = tab.conversation.peek();
        if (shown?.firstSeq === before) tab.conversation.value = prependPage(shown, page);
      }),
  };

  async function send(tab: Tab, { message, idempotencyKey }: { message: string; idempotencyKey: string }) {
    const { status } = await client.call('workstream.send', { wsId: tab.wsId, message, idempotencyKey });
    if (status === 'busy') throw new Error('This workstream is still working. Send again when it is done, or stop it.');
  }

  async function command(tab: Tab, text: string) {
    const { wsId } = await client.call('workstream.command', { wsId: tab.wsId, command: text });
    if (wsId !== tab.wsId) await workstreams.show(wsId);
  }
}

export type Actions = ReturnType<typeof createActions>;

/**
 * Once more when the connection died before the answer: a send carries an idempotency key, and everything else here is
 * harmless twice.
 */
async function repeatAfterLoss<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ConnectionLostError)) throw error;
    return run();
  }
}
