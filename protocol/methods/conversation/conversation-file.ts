import { z } from 'zod';
import { Instant } from '../../cron.ts';
import { infoShape } from '../../events/info.ts';
import { optionalText } from '../../frames.ts';
import { LIMITS } from '../../limits.ts';
import { Attachment, DecidedBy } from '../../stream-events.ts';
import { FileAgent } from './file-agent.ts';
import { FileMessage } from './file-message.ts';
import { FILE_TYPES } from './file-types.ts';

const Count = z.int().min(0);
const base = { createdMs: Instant };

/** After this many messages of the file. */
const noteBase = { ...base, after: Count };

/** A note of an exported conversation. A decision says what kind of caller decided, not which one. */
export const FileNote = z.discriminatedUnion('kind', [
  z.strictObject({ ...noteBase, ...infoShape, kind: z.literal('info') }),
  z.strictObject({ ...noteBase, kind: z.literal('error'), message: z.string() }),
  z.strictObject({
    ...noteBase,
    kind: z.literal('decision'),
    question: z.enum(['tools', 'outcome']),
    calls: z.array(z.strictObject({ callId: z.string(), name: z.string() })),
    approved: z.boolean(),
    always: z.boolean(),
    feedback: z.string(),
    by: z.enum(DecidedBy.options.map(({ shape }) => shape.kind.value)),
  }),
]);
export type FileNote = z.infer<typeof FileNote>;

/** A file of a message. */
export const FileContent = z.strictObject({
  /** At most 200 characters, of which some count twice. */
  name: z.string().min(1).max(400),
  mimeType: z.enum(FILE_TYPES),
  sizeBytes: Attachment.shape.size_bytes,
  /** The bytes in base64; absent when they were missing, or beyond the limit of an export. */
  base64: z.string().optional(),
});
export type FileContent = z.infer<typeof FileContent>;

/**
 * A conversation as a file: what people and the model see of it, and nothing about the machine, its paths, its
 * permissions or its callers.
 */
export const ConversationFile = z
  .strictObject({
    format: z.literal('headgate-conversation'),
    version: z.literal(1),
    /** The name that the workstream was given. */
    name: optionalText(128),
    title: optionalText(1024),
    /** The alias of the model; without it, or if it is unknown, the default model is used. */
    model: optionalText(256),
    thinkingLevel: z.enum(['off', 'minimal', 'low', 'medium', 'high']).optional(),
    verboseLevel: z.enum(['on', 'off']).optional(),
    messages: z.array(FileMessage).min(1).max(LIMITS.conversationFileMessages),
    notes: z.array(FileNote).max(LIMITS.conversationFileNotes).default([]),
    files: z.array(FileContent).max(10_000).default([]),
    /** Its sub-agents, in the order in which they were started; absent: none. */
    agents: z.array(FileAgent).max(LIMITS.conversationFileAgents).optional(),
  })
  .meta({ id: 'ConversationFile' });
export type ConversationFile = z.output<typeof ConversationFile>;
