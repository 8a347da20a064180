import { trimEndOf } from '../../../../protocol/text/trimmed-text.ts';
import { ARCHIVES } from './files/archives.ts';
import { CHANGES } from './files/file-changes.ts';
import { FIND } from './files/find.ts';
import { CURL } from './network/curl.ts';
import { GIT } from './network/git.ts';
import { TRANSFERS } from './network/transfers.ts';
import type { ProgramRule } from './program.ts';
import { INTERPRETERS } from './shell/interpreters.ts';
import { WRAPPERS } from './shell/wrappers.ts';
import { XARGS } from './shell/xargs.ts';
import { BUILDS } from './system/builds.ts';
import { CONTAINERS } from './system/containers.ts';
import { MACHINE } from './system/machine.ts';
import { PACKAGES } from './system/packages.ts';
import { AWK } from './text/awk.ts';
import { READERS } from './text/readers.ts';
import { SED } from './text/sed.ts';
import { WRITERS } from './text/writers.ts';

const ALL: readonly ReadonlyMap<string, ProgramRule>[] = [
  READERS,
  WRITERS,
  SED,
  AWK,
  CHANGES,
  ARCHIVES,
  FIND,
  TRANSFERS,
  CURL,
  GIT,
  WRAPPERS,
  XARGS,
  INTERPRETERS,
  MACHINE,
  PACKAGES,
  BUILDS,
  CONTAINERS,
];

const RULES = new Map(ALL.flatMap((rules) => [...rules]));

/** Names such as python3.12 have the rule of the name without the version. */
export const findRule = (name: string): ProgramRule | undefined =>
  RULES.get(name) ??
  (/^(python|perl|ruby|lua|php|node|pip)[\d.]+$/.test(name) ? RULES.get(trimEndOf(name, '0123456789.')) : undefined);
