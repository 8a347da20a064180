import { z } from 'zod';

/** The memories of agents. */
export const MemoryConfig = z.object({
  relevanceK: z
    .int()
    .min(0)
    .max(50)
    .default(5)
    .describe('How many memories are brought in with a message of a person; 0: none.'),
  fetchLimit: z.int().min(1).max(500).default(50).describe('How many memories a look of the agent reads at most.'),
  maxContent: z
    .int()
    .min(100)
    .max(65_536)
    .default(32_768)
    .describe('How many characters the content may have that an agent saves.'),
  nudges: z.boolean().default(true).describe('Whether the model is reminded of its memory when there is a reason.'),
  nudgeCooldownSecs: z
    .int()
    .min(0)
    .max(86_400)
    .default(300)
    .describe('Seconds after such a reminder without another one for the same reason.'),
});
