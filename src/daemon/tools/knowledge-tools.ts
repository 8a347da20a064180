import type { HistorySource } from '../../agent/memory/history-source.ts';
import type { MemorySource } from '../../agent/memory/memory-source.ts';
import { createMemoryTool } from '../../agent/memory/memory-tool.ts';
import { createRecallTool } from '../../agent/memory/recall-tool.ts';
import type { SkillSource } from '../../agent/skills/skill-source.ts';
import { createSkillTool } from '../../agent/skills/skill-tool.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import type { LiveConfig } from '../config/live-config.ts';

export interface KnowledgeSources {
  memories: MemorySource;
  history: HistorySource;
  skills: SkillSource;
}

/** The tools for what agents know from other conversations. */
export const createKnowledgeTools = (
  { memories, history, skills }: KnowledgeSources,
  live: Pick<LiveConfig, 'memory'>,
): Tool[] => [
  createMemoryTool({
    memories,
    get settings() {
      return live.memory;
    },
  }),
  createRecallTool(history),
  createSkillTool(skills),
];
