import { GatewayError } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { ConversationFile } from '../../../protocol/methods/conversation/conversation-file.ts';
import type { portableContracts } from '../../../protocol/methods/conversation/portable.ts';
import { type Handlers, keptOf } from '../call.ts';
import { namerOf } from '../caller.ts';
import { viewerOf } from '../sharing/perception.ts';
import type { Exports } from './exports.ts';
import type { Imported, Imports } from './imports.ts';

export interface PortableDeps {
  exports: Pick<Exports, 'open'>;
  imports: Pick<Imports, 'import'>;
}

/** The methods that write a conversation as a file and read one. */
export const portableMethods = ({ exports, imports }: PortableDeps): Handlers<keyof typeof portableContracts> => ({
  async 'workstream.export'({ wsId, format }, call) {
    const exported = await exports.open(wsId, viewerOf(call));
    if (format === 'markdown') return { format, markdown: await textOf(exported.markdown()) };
    return { format, conversation: ConversationFile.parse(JSON.parse(await textOf(exported.json()))) };
  },
  async 'workstream.import'({ conversation, workdir }, call) {
    const kept = keptOf<Imported>(call);
    return (
      kept ??
      imports.import(conversation, { workdir, by: namerOf(call), viewer: viewerOf(call) }, (made) => call.keep(made))
    );
  },
});

/** Throws if the text is too long for one answer. */
async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    if (text.length > LIMITS.chatHistoryBytes) throw tooLong();
  }
  return text;
}

const tooLong = () =>
  new GatewayError(
    'PAYLOAD_TOO_LARGE',
    `The conversation is too long for one answer (${LIMITS.chatHistoryBytes} characters). Use GET /v1/api/workstreams/{ws_id}/export.`,
  );
