import type { Skill } from '../../../../protocol/methods/skills/skill.ts';

const details = { content: [], supplyChain: [], vulnerability: [], capability: [] };
const scan = {
  ...{ tier: 'safe', composite: 0, contentRisk: 0, supplyRisk: 0, vulnRisk: 0, capabilityRisk: 0 },
  flags: [],
  details,
};

/** For tests: a stored skill. */
export const storedSkill = (change: Partial<Skill>): Skill => ({
  ...{ skillId: 'skl_1', name: 'review', category: '', content: 'Read.', description: 'Reads changes', tags: [] },
  ...{
    variables: '[]',
    activation: 'named',
    kind: 'any',
    createdBy: 'op',
    origin: 'manual',
    sourceUrl: '',
    digest: '',
  },
  ...{ author: '', version: '1', revision: 1, license: '', compatibility: '', wantedTools: [], model: '' },
  ...{ autoApprove: false, allowedTools: [], temperature: null, reasoningEffort: '', maxTokens: null, tokenBudget: 0 },
  ...{ agentMaxTurns: null, notifyOnComplete: '{}', enabled: true, priority: 0, resourceCount: 0 },
  ...{ createdAtMs: 1, updatedAtMs: 1, scan: { ...scan, tier: 'safe', scannerVersion: '1' } },
  ...change,
});
