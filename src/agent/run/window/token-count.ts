import { mostTextOf, seenIn } from '../../attached-content.ts';
import type { Message, ToolMessage, UserMessage } from '../../message.ts';
import type { ToolDefinition } from '../../providers/model.ts';

/** What a provider wraps around a message: its role, its ids, separators. */
const BYTES_OF_FRAME = 16;
/** An image counts as this much text. Providers count 800 to 1600 tokens for one. */
const BYTES_OF_IMAGE = 5_000;
/** An attachment that is only named. */
const BYTES_OF_WORDS = 150;

/** How much text a model reads for these messages, in UTF-8 bytes. */
export const bytesOfMessages = (messages: readonly Message[]): number =>
  messages.reduce((bytes, message) => bytes + bytesOfMessage(message), 0);

/** How much text a model reads for a message, in UTF-8 bytes. */
export function bytesOfMessage(message: Message): number {
  switch (message.role) {
    case 'user':
      return BYTES_OF_FRAME + Buffer.byteLength(message.content) + bytesOfAttachments(message);
    case 'assistant': {
      const calls = message.toolCalls.map(({ name, arguments: text }) => name.length + Buffer.byteLength(text));
      return (
        calls.reduce((sum, bytes) => sum + BYTES_OF_FRAME + bytes, BYTES_OF_FRAME) + Buffer.byteLength(message.content)
      );
    }
    case 'tool':
      return BYTES_OF_FRAME + Buffer.byteLength(message.output) + bytesOfAttachments(message);
  }
}

function bytesOfAttachments(message: UserMessage | ToolMessage): number {
  const seen = seenIn(message);
  const named = (message.attachments ?? []).length - seen.length;
  return seen.reduce(
    (sum, file) => sum + (file.kind === 'image' ? BYTES_OF_IMAGE : mostTextOf(file)),
    named * BYTES_OF_WORDS,
  );
}

/** Whether a model reads images in these messages. */
export const hasImages = (messages: readonly Message[]): boolean =>
  messages.some((message) => seenIn(message).some(({ kind }) => kind === 'image'));

/** How much text stands before the messages of every request, in UTF-8 bytes. */
export function bytesOfPreamble({ system, tools }: { system: string; tools: readonly ToolDefinition[] }): number {
  const known = BYTES_OF_TOOLS.get(tools);
  const described = known ?? tools.reduce((sum, tool) => sum + bytesOfTool(tool), 0);
  if (known === undefined) BYTES_OF_TOOLS.set(tools, described);
  return Buffer.byteLength(system) + described;
}

/** A conversation keeps its list of tools, and every turn counts it. */
const BYTES_OF_TOOLS = new WeakMap<readonly ToolDefinition[], number>();

const bytesOfTool = ({ name, description, parameters }: ToolDefinition): number =>
  name.length + description.length + JSON.stringify(parameters).length;
