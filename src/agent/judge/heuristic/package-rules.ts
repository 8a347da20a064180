import type { Finding } from '../assessment.ts';
import { hasOption, type Program } from './judged-program.ts';
import { found } from './program-rule.ts';

const CHANGES =
  /^(install|i|add|ci|update|upgrade|in|isntall|remove|uninstall|rm|un|purge|autoremove|dist-upgrade|full-upgrade|sync|get|require|reinstall|exec|dlx|x|create|init|link|global|run|test|build|start|audit|dedupe|rebuild|pack|mod|generate|bench|clippy|fmt|check|doc)$/;
/** Programs that fetch what they are asked to run. */
const FETCHERS = /^(npx|pnpx|bunx|uvx|pipx|uv|go|cargo)$/;
const ELSEWHERE =
  /^(git\+|https?:|git:|ssh:|git@|github:|gitlab:|bitbucket:|file:\/\/)|\.(tgz|tar\.gz|whl|deb|rpm)(\?|$)|^[\w-]+@(git\+|https?:)/;
const FROM_ELSEWHERE =
  '--index-url --extra-index-url --registry --trusted-host --find-links --git --source --allow-unauthenticated --no-gpg-check --nogpgcheck --force-yes'.split(
    ' ',
  );
const PUBLISHES = /^(publish|unpublish|yank|owner|access|token|adduser|login|deprecate|push)$/;

/** Programs that install packages, or run what they contain. */
export function packages(program: Program): Finding | undefined {
  const { name, args, operands } = program;
  const [command = ''] = operands;
  if (PUBLISHES.test(command) && !/^(apt|go|brew)/.test(name))
    return found('publish', 'high', `It changes what others install: ${name} ${command}.`);
  const isChange = operands.some((one) => CHANGES.test(one)) || args.some((arg) => /^-[SRU]/.test(arg));
  const isRun = FETCHERS.test(name) && operands.length > 0;
  if (isForeign(program) && (isChange || isRun))
    return found('transitive-install', 'high', 'It installs code from an address that is no package registry.');
  return isChange || (isRun && /x$/.test(name))
    ? found('package-install', 'medium', `It installs packages, or runs what they contain: ${toShown(program)}.`)
    : undefined;
}

const isForeign = (program: Program): boolean =>
  program.args.some((arg) => ELSEWHERE.test(arg)) ||
  hasOption(program, ...FROM_ELSEWHERE) ||
  (program.name === 'pip' && program.args.some((arg) => /^-[if]$/.test(arg))) ||
  program.operands[0] === 'skills';

const toShown = ({ name, args }: Program): string => [name, ...args.slice(0, 3)].join(' ');
