import type { Attachment, CallOutcome, MessageFailure } from '../../protocol/stream-events.ts';

/** One call the model asks for, as the model wrote it. */
export interface ToolCall {
  id: string;
  name: string;
  /** JSON text; may be malformed, which becomes an item error that the model sees. */
  arguments: string;
}

/** The stored conversation, in the order the model reads it. Every tool call has exactly one later tool message. */
export type Message =
  | {
      role: 'user';
      content: string;
      /** Named here; whoever asks the model has their bytes. */
      attachments?: Attachment[];
      /** Written by the daemon or by a caller who may approve. */
      trusted?: true;
      /** Its run ended without any answer: people read it, the model does not. */
      failed?: MessageFailure;
    }
  | {
      role: 'assistant';
      content: string;
      reasoning?: string;
      toolCalls: ToolCall[];
      /** The answer was cut off (cancelled, too long); what is here is what was shown. */
      partial?: boolean;
      /** What a provider wants back verbatim (signed reasoning …), by provider name. */
      providerData?: Record<string, unknown>;
    }
  | {
      role: 'tool';
      callId: string;
      name: string;
      output: string;
      outcome: CallOutcome;
      /** Of a command that ended by itself. */
      exitCode?: number;
      /** How long the call ran; absent where it did not run. */
      durationMs?: number;
      /** What a later edit needs to know: absolute path → SHA-256 hex of the file as this call left or saw it. */
      files?: Record<string, string>;
      /** Where `output` is only the two ends of what was printed: where the rest is. */
      kept?: KeptOutput;
    };

/** A long output, for people: its file among the stored outputs, and how much is in it. */
export interface KeptOutput {
  name: string;
  bytes: number;
}

export type AssistantMessage = Extract<Message, { role: 'assistant' }>;
export type ToolMessage = Extract<Message, { role: 'tool' }>;
