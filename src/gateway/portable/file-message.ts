import type { FileMessage } from '../../../protocol/methods/conversation/conversation-file.ts';
import type { Attachment } from '../../../protocol/stream-events.ts';
import type { AssistantMessage, CutPart, Message, ToolMessage } from '../../agent/message.ts';
import type { StoredMessage } from '../history/messages.ts';

/*
 * Messages as an exported conversation has them (decision 50). What belongs to the machine, to its permissions or to one provider stays
 * behind: hashes and places of files, who was trusted, and signed reasoning.
 */

/** The message of a file. `placeOf` returns the place of an attachment among the file's contents. */
export function toFileMessage(
  { message, createdMs }: StoredMessage,
  placeOf: (attachment: Attachment) => number,
): FileMessage {
  switch (message.role) {
    case 'user': {
      const { attachments = [], trusted: _trusted, environment: _daemon, steered: _whenSent, ...rest } = message;
      return { createdMs, ...rest, ...(attachments.length > 0 && { files: attachments.map(placeOf) }) };
    }
    case 'assistant':
      return { createdMs, ...toFileAnswer(message) };
    case 'tool': {
      const {
        files: _files,
        decision: _how,
        taint: _trust,
        limit: _limit,
        refusedHosts: _hosts,
        kept,
        ...rest
      } = message;
      return { createdMs, ...rest, ...(kept && { wholeBytes: kept.bytes }) };
    }
  }
}

function toFileAnswer(message: AssistantMessage): Omit<Extract<FileMessage, { role: 'assistant' }>, 'createdMs'> {
  const { providerData: _signed, images: _machine, cutPart, ...rest } = message;
  return { ...rest, ...(cutPart && { cutPart: lengthsOf(cutPart) }) };
}

const lengthsOf = ({ contentChars, reasoningChars }: CutPart) => ({ contentChars, reasoningChars });

/** The message to store. `attachments` are those of the file's contents, in their order. */
export function toMessage(message: FileMessage, attachments: readonly Attachment[]): Message {
  switch (message.role) {
    case 'user': {
      const { role, content, files = [], failed } = message;
      const attached = files.flatMap((place) => attachments[place] ?? []);
      return { role, content, ...(attached.length > 0 && { attachments: attached }), ...(failed && { failed }) };
    }
    case 'assistant': {
      const { role, content, reasoning, toolCalls, partial, cutPart } = message;
      return {
        role,
        content,
        ...(reasoning !== undefined && { reasoning }),
        toolCalls,
        ...(partial !== undefined && { partial }),
        ...(cutPart && { cutPart }),
      };
    }
    case 'tool':
      return toToolMessage(message);
  }
}

function toToolMessage(message: Extract<FileMessage, { role: 'tool' }>): ToolMessage {
  const { role, callId, name, output, outcome, exitCode, durationMs, notSandboxed, notice, wholeBytes } = message;
  return {
    role,
    callId,
    name,
    output,
    outcome,
    ...(exitCode !== undefined && { exitCode }),
    ...(durationMs !== undefined && { durationMs }),
    ...(notSandboxed !== undefined && { notSandboxed }),
    ...(notice !== undefined && { notice }),
    ...(wholeBytes !== undefined && { kept: { bytes: wholeBytes } }),
  };
}
