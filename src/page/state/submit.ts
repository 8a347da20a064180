import { askOnce } from '../../../protocol/client/ask-once.ts';
import { isUnanswered } from '../../../protocol/client/is-unanswered.ts';
import { createOutbox, type Outbox } from '../../../protocol/client/outbox.ts';
import { RequestError } from '../../../protocol/client/request-error.ts';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { ParamsInput } from '../../../protocol/index.ts';
import { isUploading } from './chips.ts';
import { isCommand } from './commands.ts';
import type { Files } from './files.ts';
import { type Draft, joinTexts, type Tab } from './tab.ts';
import { mayMention, readMentioned } from './workspace/file-mentions.ts';
import type { Workstreams } from './workstreams.ts';

export interface SubmitPort {
  client: Pick<GatewayClient, 'call'>;
  workstreams: Pick<Workstreams, 'show' | 'share'>;
  newKey(): string;
  files: Pick<Files, 'upload' | 'pending'>;
  /** The user; empty: the operator. Undefined until it is known. */
  ownId(): string | undefined;
}

/** Runs an action. Returns false if it failed; the tab's `problem` then has the reason. */
export type Attempt = (tab: Tab, run: () => Promise<unknown>) => Promise<boolean>;

/** `steer`: a run in progress reads the message before its next step, instead of after its answer. */
interface How {
  steer?: true;
}

interface Entry extends Draft {
  how: How;
  idempotencyKey: string;
  /** Of its chips and of the files that it mentions; undefined until those are uploaded. */
  attachmentIds?: readonly string[];
  /** The daemon may have it, although it has not said so. */
  isOpen?: boolean;
}

/**
 * Creates the function that sends a tab's draft. Drafts submitted while an earlier one is being sent follow it. If the
 * daemon does not accept one, it and those after it return to the composer.
 */
export function createSubmit(
  { client, workstreams, newKey, files: { upload } }: Omit<SubmitPort, 'ownId'>,
  attempt: Attempt,
) {
  const outboxes = new WeakMap<Tab, Outbox<Entry>>();
  const returned = createReturned();

  return async function submit(tab: Tab, how: How = {}): Promise<void> {
    const draft = readDraft(tab);
    if (draft === undefined) return;
    const entry = returned.find(tab, draft) ?? { ...draft, how, idempotencyKey: newKey() };
    tab.draft.value = '';
    if (draft.chips.length > 0) tab.chips.value = [];
    await outboxOf(tab).add(entry);
  };

  function outboxOf(tab: Tab): Outbox<Entry> {
    const known = outboxes.get(tab);
    if (known) return known;
    const outbox = createOutbox<Entry>({
      send: (entry) => attempt(tab, () => give(tab, entry)),
      onChange: (entries) => {
        tab.sending.value = entries;
      },
      onRefused(entries) {
        giveBack(tab, entries);
        const [first] = entries;
        if (first?.isOpen) returned.keep(tab, first);
      },
    });
    outboxes.set(tab, outbox);
    return outbox;
  }

  async function give(tab: Tab, entry: Entry): Promise<void> {
    const { text, chips, how, idempotencyKey } = entry;
    if (isCommand(text)) return command(tab, text);
    // Once for all attempts: with other files, it would be another message under the same key.
    const chosen = chips.flatMap(({ attachment }) => attachment?.attachment_id ?? []);
    entry.attachmentIds ??= mayMention(text) ? [...chosen, ...(await attachMentioned(tab, text))] : chosen;
    const files = entry.attachmentIds.length > 0 && { attachmentIds: [...entry.attachmentIds] };
    try {
      await send({ wsId: tab.wsId, message: text, queue: true, ...how, ...files, idempotencyKey });
    } catch (error) {
      entry.isOpen = isUnanswered(error) || (error instanceof RequestError && error.retryable);
      throw error;
    }
  }

  /** The files that the message mentions are attached to it. */
  async function attachMentioned({ wsId }: Tab, text: string): Promise<string[]> {
    const mentioned = await readMentioned(text, wsId, client);
    const signal = new AbortController().signal; // a message that is being sent cannot be taken back
    const uploaded = await Promise.all(mentioned.map((file) => upload(wsId, file, signal)));
    return uploaded.map(({ attachment_id }) => attachment_id);
  }

  async function send(params: ParamsInput<'workstream.send'>): Promise<void> {
    const { status } = await client.call('workstream.send', params);
    if (status === 'busy') throw new Error('This workstream is still working. Send again when it is done, or stop it.');
  }

  async function command(tab: Tab, text: string): Promise<void> {
    const { wsId } = await askOnce(() => client.call('workstream.command', { wsId: tab.wsId, command: text }));
    if (wsId !== tab.wsId) await workstreams.show(wsId);
  }
}

/** Undefined if there is nothing to send yet. A command sends no files; they stay for the next message. */
function readDraft(tab: Tab): Draft | undefined {
  const text = tab.draft.peek().trim();
  const chips = isCommand(text) ? [] : tab.chips.peek();
  const isEmpty = text === '' && chips.length === 0;
  return isEmpty || isUploading(chips) ? undefined : { text, chips };
}

/** The drafts come before whatever was typed since. */
function giveBack(tab: Tab, drafts: readonly Draft[]): void {
  tab.draft.value = joinTexts([...drafts.map(({ text }) => text), tab.draft.peek()]);
  tab.chips.value = [...drafts.flatMap(({ chips }) => chips), ...tab.chips.peek()];
}

/** Messages that returned without an answer: sent again unchanged, each is the same call, so that it counts once. */
function createReturned() {
  const entries = new WeakMap<Tab, Entry>();
  return {
    /** Until the draft is changed: the same words typed later are another message. */
    keep(tab: Tab, entry: Entry): void {
      if (tab.draft.peek() !== entry.text) return;
      entries.set(tab, entry);
      const stop = tab.draft.subscribe((text) => {
        if (text === entry.text) return;
        entries.delete(tab);
        stop();
      });
    },

    find(tab: Tab, { text, chips }: Draft): Entry | undefined {
      const entry = entries.get(tab);
      const isSame = entry?.text === text && keysOf(entry.chips) === keysOf(chips);
      return isSame ? entry : undefined;
    },
  };
}

const keysOf = (chips: Draft['chips']): string => JSON.stringify(chips.map(({ key }) => key));
