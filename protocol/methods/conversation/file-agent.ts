import { z } from 'zod';
import { Instant } from '../../cron.ts';
import { SUB_AGENT_OUTCOMES, subAgentShape } from '../../events/sub-agent.ts';
import { optionalText } from '../../frames.ts';
import { LIMITS } from '../../limits.ts';
import { AssistantInFile, ResultInFile, UserInFile } from './file-message.ts';

const { title, mode, tools, turns, tool_calls: toolCalls, tokens } = subAgentShape;

/**
 * A sub-agent of an exported conversation, with what it read and said. It has ended, and an import keeps it as a record: nothing
 * runs it again.
 */
export const FileAgent = z.strictObject({
  /** The call of `task` that started it. */
  callId: z.string(),
  /** The place in `agents` of the sub-agent that made this call; absent: the agent of the conversation. */
  parent: z.int().min(0).optional(),
  title,
  outcome: z.enum(SUB_AGENT_OUTCOMES),
  mode,
  tools,
  model: optionalText(256),
  turns,
  toolCalls,
  tokens,
  startedMs: Instant,
  endedMs: Instant,
  messages: z
    .array(z.discriminatedUnion('role', [UserInFile.omit({ files: true }), AssistantInFile, ResultInFile]))
    .max(LIMITS.conversationFileMessages),
  /** How many messages stayed behind, because the file would have become too long. `messages` is empty then. */
  omittedMessages: z.int().min(1).optional(),
});
export type FileAgent = z.infer<typeof FileAgent>;
