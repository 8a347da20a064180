import { type Figure, isMet, wilson } from './figure.ts';
import { SOURCES } from './sources.ts';

const INTRODUCTION = `# Figures about security

How often the guards of Headgate fail, counted over sets of cases that are in the repository. \`npm run security-figures\` writes this page; \`npm test\` fails if the fast ones of these figures differ from what it measures.

- **Cases** is the size of the set, **failures** how many of them went wrong, and **rate** their share with its 95 % interval (Wilson): another set of the same kind would probably give a rate within it.
- **Aim** is the largest rate that is accepted.
- The half **in view** was looked at while rules were written. For the half **held out**, chosen by a hash of its text, no rule was written after its failures, unless the section says so.
- Rates say how often a guard fails for such cases, not how often an attacker would succeed who looks for its gaps.
`;

const HALVES: Record<Figure['half'], string> = { all: 'all', seen: 'in view', 'held out': 'held out' };

const percent = (rate: number): string => `${(rate * 100).toFixed(1)} %`;

function toLine(figure: Figure): string {
  const { rate, low, high } = wilson(figure.n, figure.hits);
  const interval = `${percent(rate)} (${percent(low)} to ${percent(high)})`;
  const cells = [figure.set, figure.what, HALVES[figure.half], figure.n, figure.hits, interval];
  return `| ${[...cells, percent(figure.aim), isMet(figure) ? 'yes' : '**no**'].join(' | ')} |`;
}

/** The page for people. */
export const toDocument = (figures: readonly Figure[]): string =>
  [
    INTRODUCTION,
    ...SOURCES.map(({ about, sets }) =>
      toSection(
        about,
        figures.filter(({ set }) => sets.includes(set)),
      ),
    ),
  ].join('\n');

const toSection = (about: string, figures: readonly Figure[]): string =>
  [
    `## ${[...new Set(figures.map(({ set }) => set))].join('; ')}`,
    '',
    about,
    '',
    '| Set | Failure | Half | Cases | Failures | Rate | Aim | Met |',
    '|---|---|---|---|---|---|---|---|',
    ...figures.map(toLine),
    '',
  ].join('\n');
