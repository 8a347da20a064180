import { passes, rewriteDenied } from '../../src/agent/permissions/corpus/denied-fixture.ts';
import { isHarmless } from '../../src/agent/permissions/harmless.ts';
import { readCommand } from '../../src/agent/permissions/read-command.ts';
import { readCorpus } from '../effects/corpora/read-corpus.ts';
import { type Figure, toFigures } from './figure.ts';

const isAsked = (command: string): boolean =>
  !isHarmless(readCommand(command, { folder: '/work', home: '/home/me' }), { roots: ['/work'] });

/** How often a harmless command would be asked about, and how often another way of writing passes a deny rule. */
export const commandFigures = (): Figure[] => [
  ...toFigures(readCorpus('harmless'), {
    set: 'Harmless commands of everyday work',
    what: 'asked about',
    aim: 0.05,
    text: ({ command }) => command,
    isHit: ({ command }) => isAsked(command),
  }),
  ...toFigures(rewriteDenied(), {
    set: 'Other ways of writing denied commands',
    what: 'ran unasked',
    aim: 0,
    text: ({ command }) => command,
    isHit: passes,
  }),
];
