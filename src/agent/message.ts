import type { AnswerSpending } from '../../protocol/events/answer-spending.ts';
import type { AutoApproveReason } from '../../protocol/events/approval-item.ts';
import type { CommandLimit, RefusedHost } from '../../protocol/events/command-result.ts';
import type { PolicyAction } from '../../protocol/events/policy-actions.ts';
import type { DecidingRule, Ruling, Taint } from '../../protocol/events/rules.ts';
import type { TodoItem } from '../../protocol/events/todo.ts';
import type { MessageFailure } from '../../protocol/run-outcome.ts';
import type { Attachment, CallOutcome } from '../../protocol/stream-events.ts';

/** One tool call, as the model wrote it. */
export interface ToolCall {
  id: string;
  name: string;
  /** JSON text. It may be malformed; the call then fails with an error that the model sees. */
  arguments: string;
}

/**
 * A message of the stored conversation, in the order in which the model reads them. Every tool call has exactly one
 * later tool message.
 */
export type Message =
  | {
      role: 'user';
      content: string;
      /** References; the bytes are loaded for the request. */
      attachments?: Attachment[];
      /** Since a cut, the model reads only the names of the attachments: of all, or of the images. */
      unseen?: 'all' | 'images';
      /** Written by the daemon or by a caller with the approve scope. */
      trusted?: true;
      /** The daemon began the turn, for a job or a heartbeat: nobody writes at that moment. */
      unattended?: true;
      /** What its lines were made from that nobody trusts, if answers of jobs came with it. */
      taint?: Pick<Taint, 'kind' | 'target'>;
      /** Its run ended without an answer. People see it, the model does not; nor what it was told for this message alone. */
      failed?: MessageFailure;
      /** What a watch printed, which counts like the result of a call: no person begins a turn here. */
      watch?: { id: string; taint?: Pick<Taint, 'kind' | 'target'> };
      /** The agent of a coordinator wrote it, which counts like the result of a call, too. */
      sentBy?: { wsId: string; taint?: Pick<Taint, 'kind' | 'target'> };
      /** It came during a run, after the results of calls; a turn of the person begins here. */
      steered?: true;
      /** It came with an approval, so it belongs to the turn that asked. */
      feedback?: true;
      /** It stands in place of earlier messages; this is what a later summary takes from it word for word. `isClean`: none of them was untrusted. */
      summary?: { rules: string[]; files: string[]; todo?: TodoItem[]; signed?: SignedSummary; isClean?: true };
      /** Written by the daemon: what has changed around the conversation. The model reads it; people see a note. */
      environment?: EnvironmentMark;
    }
  | {
      role: 'assistant';
      content: string;
      reasoning?: string;
      toolCalls: ToolCall[];
      /** The answer was cut off (cancelled or too long). The content is what was shown. */
      partial?: boolean;
      /** The part of the answer before the output limit; the rest is its continuation. */
      cutPart?: CutPart;
      /** What is known of the images before it. */
      images?: AnsweredImages;
      /** For people. */
      spent?: AnswerSpending;
      /** Data that a provider needs back unchanged, such as signed reasoning, by provider name. */
      providerData?: Record<string, unknown>;
    }
  | {
      role: 'tool';
      callId: string;
      name: string;
      output: string;
      outcome: CallOutcome;
      /** Only for commands that exited on their own. */
      exitCode?: number;
      /** Absent when the call did not run. */
      durationMs?: number;
      /** Why the call ran without the sandbox. */
      notSandboxed?: string;
      /** The limit that ended a command, or processes of it. */
      limit?: CommandLimit;
      /** Hosts that a command did not reach because that is not allowed. Another attempt asks for them. */
      refusedHosts?: readonly RefusedHost[];
      /** Images that the model reads after the results of the turn. */
      attachments?: Attachment[];
      /** As on messages of people. */
      unseen?: 'all' | 'images';
      /** For later edits: absolute path → SHA-256 hex of the file as this call left or saw it. */
      files?: Record<string, string>;
      /** Where the whole output is, when `output` has only its two ends. */
      kept?: KeptOutput | LostOutput;
      /** The checklist that the call began, if its arguments do not have it: an approved plan. */
      todo?: readonly TodoItem[];
      /** What the daemon tells the model after the output. */
      notice?: string;
      /** How it was decided about the call, where that was not as its tool says. */
      decision?: CallDecision;
      /** What it brought into the conversation that nobody trusts. */
      taint?: Pick<Taint, 'kind' | 'target'>;
    };

/** How it was decided about a call. */
export interface CallDecision {
  /** The name that tool policies match besides the tool's, if it has another one. */
  label?: string;
  /** Why nobody was asked, although it needed approval. */
  auto?: AutoApproveReason;
  /** What was decided, and why. Absent in results of earlier versions, and where it was as the tool says. */
  verdict?: Ruling['verdict'];
  reason?: Ruling['reason'];
  /** The id of the tool policy or of the permission rule that decided, its action and its place, and whether the tool itself wanted approval. */
  policy?: string;
  rule?: string;
  action?: PolicyAction;
  place?: DecidingRule['place'];
  wanted?: boolean;
}

/** Which model answered with the images before its answer, and the ids of those that its server has refused. */
export interface AnsweredImages {
  model: string;
  withheld?: string[];
}

/** How much of an answer came before the output limit of its model, with its provider's data for this part. */
export interface CutPart {
  contentChars: number;
  reasoningChars: number;
  providerData?: Record<string, unknown>;
}

/** The text of a summary that its maker wrote and signed: where it stands in the content, and the maker's data for it. */
export interface SignedSummary {
  at: number;
  chars: number;
  providerData: Record<string, unknown>;
}

/** What the model knows once it has read an environment message. */
export interface EnvironmentMark {
  /**
   * The version of the prefix that it adds to. The message means nothing after another one. Absent: it tells what has happened,
   * such as that files were taken back, and stays true.
   */
  version?: string;
  told?: Told;
  /** It has the schema that the answer of this run has to fit. */
  outputOf?: string;
  /** It shows these memories, as `memoryKey` names them. */
  memories?: readonly string[];
  /** It reminds the model of its memory. */
  nudge?: { kind: NudgeKind; atMs: number };
  /** What the model knows of skills after it. */
  skills?: ToldSkills;
  /** What of it nobody trusts. */
  taint?: ToolMessage['taint'];
}

/** Why a model is reminded of its memory. */
export type NudgeKind = 'start' | 'resume' | 'correction' | 'completion' | 'denial' | 'tool_error';

/** What a model knows of skills, by its messages. */
export interface ToldSkills {
  /** The digest of the list of skills that it may load; empty: none. */
  list: string;
  /** Those that hold in the conversation: name → digest of the text. */
  applied: Readonly<Record<string, string>>;
}

/** What a model was told about its surroundings. */
export interface Told {
  /** The local date, YYYY-MM-DD. */
  date: string;
  zone: string;
  /** The repository in words; null: there was none; absent: not stored by earlier versions. */
  git?: string | null | undefined;
  /** Empty: unknown. */
  model: string;
  /** Why commands run without a sandbox; null: they run in one. */
  notSandboxed: string | null;
  /** Instruction files: path → SHA-256 of the text that was shown. */
  instructions: Record<string, string>;
  /** Tools: name → SHA-256 of the parameters. */
  tools: Record<string, string>;
}

/** A long output stored for people: its file name and size. */
export interface KeptOutput {
  name: string;
  bytes: number;
}

/** A long output of an imported conversation. It stayed on the other machine. */
export interface LostOutput {
  name?: undefined;
  bytes: number;
}

export type AssistantMessage = Extract<Message, { role: 'assistant' }>;
export type ToolMessage = Extract<Message, { role: 'tool' }>;
export type UserMessage = Extract<Message, { role: 'user' }>;

/** Whether a person or a program wrote it: not the daemon, a watch, or the agent of another workstream; and no summary. */
export const isFromPerson = (message: Message): message is UserMessage =>
  isAsked(message) && !message.summary && !message.watch && !message.sentBy;

/** Whether a person or a program wrote it for the conversation: not an answer, a result or a message of the daemon. */
export const isAsked = (message: Message): message is UserMessage =>
  message.role === 'user' && message.environment === undefined;

/** Whether a run begins with it: it came neither during the run nor with an approval. */
export const beginsRun = (message: Message): boolean =>
  isAsked(message) && message.steered === undefined && message.feedback === undefined;
