import { GatewayError } from '../../../protocol/errors.ts';
import type { outputContracts } from '../../../protocol/methods/output.ts';
import type { ToolMessage } from '../../agent/message.ts';
import { type OutputPart, type OutputRange, takeRange } from '../../agent/process/output-files.ts';
import type { Handlers } from '../call.ts';
import type { Messages } from '../history/messages.ts';
import { findResult } from '../history/output-source.ts';
import { viewerOf } from '../sharing/perception.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';

export interface OutputMethodDeps {
  workstreams: Workstreams;
  messages: Messages;
  /** A part of a stored output by its name; undefined when it has expired. */
  readOutput(name: string, range: OutputRange): Promise<OutputPart | undefined>;
}

const STANDARD_BYTES = 65_536;

export const outputMethods = ({
  workstreams,
  messages,
  readOutput,
}: OutputMethodDeps): Handlers<keyof typeof outputContracts> => ({
  'output.read': async ({ wsId, callId, offset = 0, limit = STANDARD_BYTES }, call) => {
    const { data } = await workstreams.get(wsId, viewerOf(call));
    const result = await findResult(data, callId, messages);
    if (!result) throw new GatewayError('NOT_FOUND', 'No finished call has this id');
    const range = { offset, limit };
    const part = await partOf(result, { range, readOutput });
    if (!part) throw new GatewayError('NOT_FOUND', 'This output has expired');
    return { ...part, offset };
  },
});

async function partOf(
  { output, kept }: ToolMessage,
  { range, readOutput }: Pick<OutputMethodDeps, 'readOutput'> & { range: OutputRange },
): Promise<OutputPart | undefined> {
  if (!kept) return takeRange(Buffer.from(output), range);
  return kept.name === undefined ? undefined : readOutput(kept.name, range);
}
