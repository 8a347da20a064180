import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { ParamsInput } from '../../../protocol/index.ts';
import { isUploading } from './chips.ts';
import { isCommand } from './commands.ts';
import type { Chip, Tab } from './tab.ts';
import type { Workstreams } from './workstreams.ts';

export interface SubmitPort {
  client: Pick<GatewayClient, 'call'>;
  workstreams: Pick<Workstreams, 'show'>;
  newKey(): string;
}

/** Runs an action. Returns false if it failed; the tab's `problem` then has the reason. */
type Attempt = (tab: Tab, run: () => Promise<unknown>) => Promise<boolean>;

/** `steer`: a run in progress reads the message before its next step, instead of after its answer. */
interface How {
  steer?: true;
}

interface Draft {
  text: string;
  chips: readonly Chip[];
}

/**
 * Creates the function that sends a tab's draft. If the daemon does not accept the draft, it returns to the composer. A
 * draft submitted while another is being sent waits for it, and is sent if that one was accepted and the draft has not
 * changed since.
 */
export function createSubmit({ client, workstreams, newKey }: SubmitPort, attempt: Attempt) {
  /** Drafts submitted while an earlier one was being sent. */
  const next = new WeakMap<Tab, { text: string; how: How }>();

  return async function submit(tab: Tab, how: How = {}): Promise<void> {
    const draft = readDraft(tab);
    if (draft === undefined) return;
    if (tab.sending.peek() !== undefined) {
      next.set(tab, { text: draft.text, how });
      return;
    }
    tab.draft.value = '';
    if (draft.chips.length > 0) tab.chips.value = [];
    tab.sending.value = draft.text;
    const idempotencyKey = newKey();
    const isTaken = await attempt(tab, () => give(tab, draft, { ...how, idempotencyKey }));
    tab.sending.value = undefined;
    const wanted = next.get(tab);
    next.delete(tab);
    if (!isTaken) giveBack(tab, draft);
    else if (wanted?.text === tab.draft.peek().trim()) await submit(tab, wanted.how);
  };

  async function give(tab: Tab, { text, chips }: Draft, how: How & { idempotencyKey: string }): Promise<void> {
    if (isCommand(text)) return command(tab, text);
    const attachmentIds = chips.flatMap(({ attachment }) => attachment?.attachment_id ?? []);
    const files = attachmentIds.length > 0 && { attachmentIds };
    await send({ wsId: tab.wsId, message: text, queue: true, ...how, ...files });
  }

  async function send(params: ParamsInput<'workstream.send'>): Promise<void> {
    const { status } = await client.call('workstream.send', params);
    if (status === 'busy') throw new Error('This workstream is still working. Send again when it is done, or stop it.');
  }

  async function command(tab: Tab, text: string): Promise<void> {
    const { wsId } = await client.call('workstream.command', { wsId: tab.wsId, command: text });
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

function giveBack(tab: Tab, { text, chips }: Draft): void {
  if (tab.draft.peek() === '') tab.draft.value = text;
  tab.chips.value = [...chips, ...tab.chips.peek()];
}
