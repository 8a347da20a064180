import commands from '../../src/agent/permissions/corpus/commands.json' with { type: 'json' };
import rewritings from '../../src/agent/permissions/corpus/rewritings.json' with { type: 'json' };
import { readCorpus } from './corpora/read-corpus.ts';

/** Commands of the tables and of documentation, each once. */
export const givenCommands = (): string[] => [
  ...new Set([
    ...Object.keys(commands),
    ...rewritings,
    ...readCorpus('documentation').map(({ command }) => command),
    ...readCorpus('harmless').map(({ command }) => command),
  ]),
];
