import type { FileMessage } from '../../../protocol/methods/conversation/file-message.ts';
import type { Attachment } from '../../../protocol/stream-events.ts';
import type { AssistantMessage, CutPart, Message, ToolMessage } from '../../agent/message.ts';
import type { StoredMessage } from '../history/messages.ts';

/*
 * Messages as an exported conversation has them (decision 50). What belongs to the machine, to its permissions or to one provider stays
 * behind: hashes and places of files, who was trusted, and signed reasoning.
 */

/**
 * The message of a file. `placeOf` returns the place of an attachment among the file's contents. Field by field, because a
 * further field of messages would make a file that nobody can import.
 */
export function toFileMessage(
  { message, createdMs }: StoredMessage,
  placeOf: (attachment: Attachment) => number,
): FileMessage {
  switch (message.role) {
    case 'user': {
      const { role, content, attachments = [], failed } = message;
      const files = attachments.map(placeOf);
      return { createdMs, role, content, ...(failed && { failed }), ...(files.length > 0 && { files }) };
    }
    case 'assistant':
      return toFileAnswer(message, createdMs);
    case 'tool':
      return toFileResult(message, createdMs);
  }
}

function toFileAnswer(message: AssistantMessage, createdMs: number): FileMessage {
  const { role, content, reasoning, toolCalls, partial, cutPart } = message;
  return {
    createdMs,
    role,
    content,
    ...(reasoning !== undefined && { reasoning }),
    toolCalls,
    ...(partial !== undefined && { partial }),
    ...(cutPart && { cutPart: lengthsOf(cutPart) }),
  };
}

function toFileResult(message: ToolMessage, createdMs: number): FileMessage {
  const { kept } = message;
  return { createdMs, ...portedResult(message), ...(kept && { wholeBytes: kept.bytes }) };
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

type FileResult = Extract<FileMessage, { role: 'tool' }>;

function toToolMessage(message: FileResult): ToolMessage {
  const { wholeBytes } = message;
  return { ...portedResult(message), ...(wholeBytes !== undefined && { kept: { bytes: wholeBytes } }) };
}

/** What a result has alike in the file and in the store. Fields that the file does not have are left out. */
function portedResult(message: ToolMessage | FileResult) {
  const { role, callId, name, output, outcome, exitCode, durationMs, notSandboxed, notice } = message;
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
  };
}
