import { askOnce } from '../../../protocol/client/ask-once.ts';
import { isUnanswered } from '../../../protocol/client/is-unanswered.ts';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import { isBusy } from '../../../protocol/is-busy.ts';
import type { QueuedMessage } from '../../../protocol/queue/queue-methods.ts';
import { withWorking } from './agents/agent-list.ts';
import { stillRunning } from './background/background.ts';
import { withMoved } from './composer/queue-order.ts';
import { repeatAfterLoss } from './reading/repeat-after-loss.ts';
import type { Attempt, SubmitPort } from './submit.ts';
import { joinTexts, type Tab, toChip } from './tab.ts';

type Port = Pick<SubmitPort, 'client' | 'newKey' | 'files' | 'ownId'>;

/** Ends a run or a wait, and changes messages that wait. */
export const waitingActions = ({ client, newKey, files, ownId }: Port, attempt: Attempt) => ({
  cancel: createCancel({ client, files, ownId }, attempt),

  /** Ends a background command. The event about its end changes what is shown. */
  killCommand: (tab: Tab, commandId: string) =>
    attempt(tab, () => client.call('background.kill', { wsId: tab.wsId, commandId })),

  /** Ends one sub-agent with those below it. The event about its end changes what is shown. */
  cancelAgent: (tab: Tab, agentId: string) =>
    attempt(tab, () => client.call('subagent.cancel', { wsId: tab.wsId, agentId })),

  /** Shows the sub-agents that began before the page was opened and still work. What events say of them is newer. */
  readAgents(tab: Tab): void {
    const read = async () => {
      const { agents } = await client.call('subagent.list', { wsId: tab.wsId });
      tab.catchUp();
      const shown = tab.conversation.peek();
      if (shown === undefined || !isBusy(shown.state)) return;
      tab.conversation.value = { ...shown, agents: withWorking(shown.agents, agents) };
    };
    read().catch(() => undefined); // the tree then begins with the next event
  },

  /** Takes the ended background commands off the screen. */
  clearEnded(tab: Tab): void {
    const shown = tab.conversation.peek();
    if (shown) tab.conversation.value = { ...shown, background: stillRunning(shown.background) };
  },

  tryNow: (tab: Tab) => attempt(tab, () => client.call('workstream.proceed', { wsId: tab.wsId })),

  editQueued: (tab: Tab, { runId, message }: { runId: string; message: string }) =>
    attempt(tab, () => client.call('queue.edit', { wsId: tab.wsId, runId, message })),

  /** Moves a waiting message to another place, counted from 0. If it was not moved, the queue is read again. */
  async moveQueued(tab: Tab, { runId, to }: { runId: string; to: number }): Promise<boolean> {
    const isDone = await attempt(tab, () => client.call('queue.move', { wsId: tab.wsId, runId, to }));
    if (isDone)
      tab.queue.value = withMoved(tab.queue.peek(), runId, to); // the event may come after the answer
    else await readQueue(client, tab);
    return isDone;
  },

  /** The run in progress reads the message before its next step. */
  steerQueued: (tab: Tab, runId: string) => attempt(tab, () => client.call('queue.steer', { wsId: tab.wsId, runId })),

  /** Takes a waiting message back. It returns to the composer, before what was typed since. */
  removeQueued(tab: Tab, message: QueuedMessage): Promise<boolean> {
    // Without a key, a call that is repeated after a lost connection would answer that nothing was removed.
    const params = { wsId: tab.wsId, runId: message.runId, idempotencyKey: newKey() };
    return attempt(tab, async () => {
      const { removed } = await client.call('queue.remove', params);
      if (removed) await giveBack(tab, [message], files);
    });
  },
});

/**
 * Stops the run. What this person has sent, and waited for its end, returns to the composer, before what was typed since, because
 * a cancel drops it.
 */
function createCancel({ client, files, ownId }: Omit<Port, 'newKey'>, attempt: Attempt) {
  /** The runs of those that have returned: a second press may come before the queue is known to be empty. */
  const returned = new Set<string>();
  const isOwn = ({ source, sender = '' }: QueuedMessage) => source === 'person' && sender === (ownId() ?? sender);
  return (tab: Tab, force: boolean) => {
    const waiting = tab.queue.peek().filter(isOwn);
    return attempt(tab, () =>
      askOnce(async () => {
        const { isDropped, lost } = await stop(client, tab, force);
        const dropped = waiting.filter(({ runId }) => isDropped(runId) && !returned.has(runId));
        for (const { runId } of dropped) returned.add(runId);
        await giveBack(tab, dropped, files);
        if (lost !== undefined) throw lost;
      }),
    );
  };
}

/** Messages return to the composer, with those of their files that this person may send again. */
async function giveBack(tab: Tab, messages: readonly QueuedMessage[], files: Port['files']): Promise<void> {
  tab.draft.value = joinTexts([...messages.map(({ message }) => message), tab.draft.peek()]);
  const sent = messages.flatMap(({ attachments = [] }) => attachments);
  if (sent.length === 0) return;
  const pending = await files.pending(tab.wsId).catch(() => sent);
  const ids = new Set(pending.map(({ attachment_id: id }) => id));
  const back = sent.filter(({ attachment_id: id }) => ids.has(id));
  tab.chips.value = [...back.map(toChip), ...tab.chips.peek()];
}

interface Stopped {
  /** Of a message that waited. */
  isDropped(runId: string): boolean;
  /** The loss, if the run of that time is not known. */
  lost?: unknown;
}

/**
 * Cancels everything. Without a connection, or if the answer is lost, only what ran and waited at that time is cancelled: the
 * call may have worked, and something else may run since.
 */
async function stop(client: Pick<GatewayClient, 'call'>, tab: Tab, force: boolean): Promise<Stopped> {
  const { wsId } = tab;
  const current = latestRunOf(tab);
  const waiting = tab.queue.peek().map(({ runId }) => runId);
  try {
    await client.call('workstream.cancel', { wsId, ...(force ? { force } : {}) }, { atOnce: true });
    return { isDropped: () => true };
  } catch (error) {
    if (!isUnanswered(error)) throw error;
    const abort = (runId: string) => repeatAfterLoss(() => client.call('chat.abort', { sessionKey: wsId, runId }));
    const dropped = new Set<string>();
    for (const runId of waiting) {
      await abort(runId);
      if (await hasNotBegun(client, runId)) dropped.add(runId);
    }
    if (current !== undefined) await abort(current);
    return { isDropped: (runId) => dropped.has(runId), ...(current === undefined && { lost: error }) };
  }
}

function latestRunOf(tab: Tab): string | undefined {
  const asked = tab.conversation.peek()?.blocks.findLast(({ kind }) => kind === 'user');
  return asked?.kind === 'user' ? asked.runId : undefined;
}

/** Whether a message that was stopped had not been answered before. If that is not known, it had better come back. */
const hasNotBegun = (client: Pick<GatewayClient, 'call'>, runId: string): Promise<boolean> =>
  repeatAfterLoss(() => client.call('agent.wait', { runId, timeoutMs: 0 })).then(
    ({ status, startedAt }) => status !== 'ok' && startedAt === undefined,
    () => true,
  );

/**
 * Without an answer, the queue stays as it is until the connection is back, which reads it again. What an event said meanwhile is
 * newer.
 */
const readQueue = (client: Pick<GatewayClient, 'call'>, tab: Tab): Promise<void> => {
  const before = tab.queue.peek();
  return client.call('queue.list', { wsId: tab.wsId }).then(
    ({ messages }) => {
      if (tab.queue.peek() === before) tab.queue.value = messages;
    },
    () => undefined,
  );
};
