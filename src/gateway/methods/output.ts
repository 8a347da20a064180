import { GatewayError } from '../../../protocol/errors.ts';
import type { outputContracts } from '../../../protocol/methods/output.ts';
import type { ToolMessage } from '../../agent/message.ts';
import { type OutputPart, type OutputRange, takeRange } from '../../agent/process/output-files.ts';
import type { Handlers } from '../call.ts';
import type { Messages } from '../history/messages.ts';
import { damaged } from '../store/store-fault.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';

export interface OutputMethodDeps {
  workstreams: Workstreams;
  messages: Messages;
  /** A part of a stored output by its name; undefined when it has expired. */
  readOutput(name: string, range: OutputRange): Promise<OutputPart | undefined>;
}

const STANDARD_BYTES = 65_536;
/** Messages searched at a time for the result of a call. */
const PAGE = 200;

export const outputMethods = (deps: OutputMethodDeps): Handlers<keyof typeof outputContracts> => ({
  'output.read': async ({ wsId, callId, offset = 0, limit = STANDARD_BYTES }) => {
    const result = await findResult(await deps.workstreams.get(wsId), callId, deps.messages);
    if (!result) throw new GatewayError('NOT_FOUND', 'No finished call has this id');
    const range = { offset, limit };
    const part = result.kept
      ? await deps.readOutput(result.kept.name, range)
      : takeRange(Buffer.from(result.output), range);
    if (!part) throw new GatewayError('NOT_FOUND', 'This output has expired');
    return { ...part, offset };
  },
});

/**
 * The latest result of a call. Searches from the newest message, because people mostly look at recent ones. Throws if
 * damaged messages may contain it.
 */
async function findResult({ data }: Workstream, callId: string, messages: Messages): Promise<ToolMessage | undefined> {
  let isDamaged = false;
  for (let upTo = data.messageCount; upTo > data.contextAfterSeq; upTo -= PAGE) {
    const range = { after: Math.max(data.contextAfterSeq, upTo - PAGE), upTo, limit: PAGE };
    const page = await messages.page(data.wsId, range, 'original');
    for (const stored of page.reverse()) {
      const { message } = stored;
      if (message.role === 'tool' && message.callId === callId) return message;
      isDamaged ||= stored.isDamaged === true;
    }
  }
  if (isDamaged) throw damaged(new Error(`the result of call ${callId} may be damaged`));
  return undefined;
}
