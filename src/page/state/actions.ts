import { isUnanswered } from '../../../protocol/client/is-unanswered.ts';
import { RequestError } from '../../../protocol/client/request-error.ts';
import type { ParamsInput } from '../../../protocol/index.ts';
import type { Visibility } from '../../../protocol/methods/conversation/sharing.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import { prependPage } from './conversation/conversation.ts';
import { repeatAfterLoss } from './reading/repeat-after-loss.ts';
import { type Attempt, createSubmit, type SubmitPort } from './submit.ts';
import type { Tab } from './tab.ts';
import { waitingActions } from './waiting-actions.ts';

const PAGE_MESSAGES = 100;

/** Actions in a conversation. A failure is shown as the `problem` of the tab and never thrown. */
export function createActions(port: SubmitPort) {
  const { client } = port;
  const attempt: Attempt = async (tab, run) => {
    tab.problem.value = undefined;
    try {
      await repeatAfterLoss(run);
      return true;
    } catch (error) {
      tab.problem.value = wordsOf(error);
      return false;
    }
  };

  return {
    submit: createSubmit(port, attempt),

    ...waitingActions(port, attempt),

    decide: createDecide(client, attempt),

    update: createUpdate(client, attempt),

    share: (tab: Tab, visibility: Visibility) => attempt(tab, () => port.workstreams.share(tab, { visibility })),

    /** Answers the last message again, or sends it again if it failed. */
    retry: (tab: Tab) => {
      const params = { wsId: tab.wsId, idempotencyKey: port.newKey() };
      return attempt(tab, () => client.call('workstream.retry', params));
    },

    /** Sends a text in place of a message and everything after it. */
    edit: (tab: Tab, { seq, message }: { seq: number; message: string }) => {
      const params = { wsId: tab.wsId, seq, message, idempotencyKey: port.newKey() };
      return attempt(tab, () => client.call('workstream.edit', params));
    },

    /** Removes a failed message. */
    remove: (tab: Tab, seq: number) => {
      const params = { wsId: tab.wsId, seq, idempotencyKey: port.newKey() };
      return attempt(tab, () => client.call('workstream.remove', params));
    },

    /** Copies the conversation, up to a turn that ends with message `seq`, and shows the copy. */
    fork: (tab: Tab, seq: number | undefined) => {
      const params = { wsId: tab.wsId, ...(seq !== undefined && { seq }), idempotencyKey: port.newKey() };
      return attempt(tab, async () => {
        const { wsId } = await client.call('workstream.fork', params);
        await port.workstreams.show(wsId);
      });
    },

    /** Returns an error message, or undefined on success. An empty name restores the generated one. */
    async rename(tab: Tab, name: string): Promise<string | undefined> {
      try {
        await client.call('workstream.update', { wsId: tab.wsId, name });
        return undefined;
      } catch (error) {
        return wordsOf(error);
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
}

export type Actions = ReturnType<typeof createActions>;

/** If the answer to a decision is lost, it may have counted, and its repeat is refused. */
const createDecide =
  (client: SubmitPort['client'], attempt: Attempt) =>
  (tab: Tab, decision: ParamsInput<'approval.resolve'>): Promise<boolean> => {
    let mayHaveCounted = false;
    return attempt(tab, async () => {
      try {
        await client.call('approval.resolve', decision);
      } catch (error) {
        if (mayHaveCounted && isDecidedAlready(error) && !isOther(tab, decision)) return;
        mayHaveCounted ||= isUnanswered(error);
        throw error;
      }
    });
  };

/** The run of a question that is decided may have ended, too. */
const isDecidedAlready = (error: unknown): boolean =>
  error instanceof RequestError && (error.code === 'CONFLICT' || error.code === 'NOT_FOUND');

/** Whether the conversation shows another decision. */
function isOther(tab: Tab, { approvalId, approved }: ParamsInput<'approval.resolve'>): boolean {
  tab.catchUp();
  const asked = tab.conversation.peek()?.blocks.find((one) => one.kind === 'approval' && one.approvalId === approvalId);
  return asked?.kind === 'approval' && asked.decision !== undefined && asked.decision.approved !== approved;
}

/** Changes settings. Once this resolves, the conversation has those that the daemon answered for. */
const createUpdate =
  (client: SubmitPort['client'], attempt: Attempt) =>
  async (tab: Tab, change: Omit<ParamsInput<'workstream.update'>, 'wsId'>): Promise<boolean> => {
    const isDone = await attempt(tab, () => client.call('workstream.update', { wsId: tab.wsId, ...change }));
    tab.catchUp(); // the event of a change is received before the answer, but applied with the next drawn frame
    return isDone;
  };
