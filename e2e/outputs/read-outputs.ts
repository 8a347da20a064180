import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { OUTPUT_RISKS } from '../../protocol/events/output-warning.ts';
import { makeSecret } from './made-secrets.ts';

const LABELS = ['secret', 'injection', 'hidden', 'disclosure', 'harmless'] as const;

/** A labelled output of a tool. */
export interface LabelledOutput {
  label: (typeof LABELS)[number];
  family: string;
  /** What the guard should report about it. */
  risk: (typeof OUTPUT_RISKS)[number] | 'none';
  /** The command, or what the text is part of. */
  source: string;
  text: string;
  /** What nobody may read in it. */
  secrets: string[];
  /** As it is in the repository, without the secrets. */
  written: string;
}

const FILES = ['secrets-in-files', 'secrets-in-output', 'injections', 'look-alikes', 'collected'];

const HEADER = /^@@@@ (\S+) (\S+) (\S+) \| (.*)$/;

/** All labelled outputs. Markers such as `⟦github⟧` become secrets that are made up here. */
export const readOutputs = (): LabelledOutput[] =>
  FILES.flatMap((file) =>
    readFileSync(path.join(import.meta.dirname, 'corpora', `${file}.txt`), 'utf8')
      .split(/^(?=@@@@ )/m)
      .map(toOutput),
  );

function toOutput(part: string): LabelledOutput {
  const [header = '', ...lines] = part.split('\n');
  const [, label, family = '', risk, source = ''] = HEADER.exec(header) ?? [];
  const known = { label: LABELS.find((each) => each === label), risk: RISKS.find((each) => each === risk) };
  if (known.label === undefined || known.risk === undefined) throw new Error(`Not a labelled output: ${header}`);
  const written = lines.join('\n');
  const secrets: string[] = [];
  const text = written.replace(/⟦([^⟧]+)⟧/g, (_, marker: string, at: number) => {
    const made = makeSecret(marker, `${part}/${at}`);
    secrets.push(...made.secrets);
    return made.text;
  });
  return { label: known.label, family, risk: known.risk, source, text, secrets, written };
}

const RISKS = ['none', 'low', 'medium', 'high'] as const;
