import type { ShellWord } from '../../reading/shell-word.ts';
import { mayBe } from '../options.ts';
import { addEffect, addUnknown, type ProgramCall, type ProgramRule } from '../program.ts';
import { toRules } from '../rows.ts';
import { addFolder, addNetwork } from '../targets.ts';
import { addBuild, isVersion } from './builds.ts';

interface PackageProgram {
  /** Commands that only show what is there. */
  shows: RegExp;
  /** Commands that only ask a registry. */
  asks?: RegExp;
  /** Commands that build, check or test the project, for which the network is not needed. */
  tests?: RegExp;
  /** Whether it changes the machine, not only the project. */
  isSystem?: boolean;
  /** Whether commands that show what is there never connect. */
  isOffline?: boolean;
}

/** Installs or builds: it uses the network, writes below the folder and runs what others wrote. */
function toPackages(program: PackageProgram): ProgramRule {
  const { isSystem = false, isOffline = true } = program;
  return (call) => {
    const command = call.args.find(({ start }) => !start.startsWith('-'));
    // Their caches and logs are somewhere in the home.
    call.findings.addEffect({ kind: 'write', target: '~/.cache', certain: false, isIncidental: true });
    const action = toAction(call, command, program);
    if (action === 'builds' || (action === 'shows' && !isOffline)) addUpdateCheck(call);
    if (action === 'asks' || action === 'installs') addNetwork(call);
    if (action === 'builds') addBuild(call);
    if (action === 'installs') addInstallation(call, command, isSystem);
  };
}

function toAction(call: ProgramCall, command: ShellWord | undefined, { shows, asks, tests }: PackageProgram) {
  if (isVersion(call.args)) return 'shows';
  const name = hasPlainOptions(call) ? command?.value : undefined;
  if (name === undefined) return 'installs';
  if (shows.test(name)) return 'shows';
  if (asks?.test(name)) return 'asks';
  return tests?.test(name) ? 'builds' : 'installs';
}

/** npm looks for a newer version of itself; builds for packages that are not there yet. */
const addUpdateCheck = ({ findings }: ProgramCall): void =>
  findings.addEffect({ kind: 'network', certain: false, isIncidental: true });

function addInstallation(call: ProgramCall, command: ShellWord | undefined, isSystem: boolean): void {
  const shown = [call.name, ...call.args.slice(0, 3).map(({ written }) => written)].join(' ');
  if (isSystem) addEffect(call, 'system', shown);
  else addFolder(call, 'write');
  addUnknown(call, command);
}

/** Options that lead to other programs, settings or folders. */
const LEADING = (
  'config prefix cache userconfig globalconfig script-shell node-options viewer editor git python manifest-path target-dir ' +
  'root log package call yes'
)
  .split(' ')
  .map((name) => `--${name}`);

const hasPlainOptions = ({ args }: ProgramCall): boolean =>
  !args.some(
    (word) =>
      (word.value === undefined && word.start === '') ||
      /^-[ocpyw]/.test(word.start) ||
      LEADING.some((option) => word.start.startsWith(option)) ||
      (word.start.length > 3 && mayBe(word, LEADING)),
  );

/** Rules of programs that install packages and build projects. */
export const PACKAGES = toRules({
  'npm pnpm': toPackages({
    shows: /^(ls|list|ll|root|prefix|bin|help|why|explain)$/,
    asks: /^(view|info|show|search|outdated|ping|whoami)$/,
    tests: /^(test|t|tst|run|run-script|start|build|lint|check|typecheck)$/,
    isOffline: false,
  }),
  yarn: toPackages({
    shows: /^(list|why|bin|dir)$/,
    asks: /^(info|outdated)$/,
    tests: /^(test|run|start|build|lint|check|typecheck)$/,
    isOffline: false,
  }),
  'npx pnpx bunx': toPackages({
    shows: /^$/,
    tests:
      /^(tsc|eslint|prettier|biome|jest|vitest|mocha|ava|c8|knip|playwright|vite|esbuild|rollup|webpack|stylelint)$/,
  }),
  'uvx pipx uv poetry conda mamba': toPackages({ shows: /^$/ }),
  'pip pip3': toPackages({ shows: /^(list|show|freeze|check|help|inspect)$/, asks: /^(index)$/ }),
  cargo: toPackages({
    shows: /^(version|help|locate-project|pkgid)$/,
    asks: /^(search|info)$/,
    tests: /^(build|b|check|c|test|t|clippy|fmt|doc|bench|run|r|nextest|tree)$/,
  }),
  go: toPackages({ shows: /^(version|help)$/, tests: /^(build|test|vet|fmt|run|list)$/ }),
  rustup: toPackages({ shows: /^(show|which)$/ }),
  dotnet: toPackages({ shows: /^(--info|--list-sdks)$/, tests: /^(build|test|run|format)$/ }),
  swift: toPackages({ shows: /^$/, tests: /^(build|test|run)$/ }),
  mix: toPackages({ shows: /^(help)$/, tests: /^(test|compile|format)$/ }),
  'gem bundle composer': toPackages({ shows: /^(list|show|help|which)$/ }),
  'apt apt-get aptitude': toPackages({ shows: /^(list|search|show|policy|depends|rdepends)$/, isSystem: true }),
  'apt-cache dpkg-query': { lenient: true },
  dpkg: (call) => {
    const isShown =
      call.args.length > 0 &&
      /^(-l|-L|-s|-S|-p|-I|-c|--list|--listfiles|--status|--search|--print-architecture|--print-foreign-architectures|--compare-versions|--version|--get-selections|--contents|--info|--verify|-V)$/.test(
        call.args[0]?.value ?? '',
      );
    if (isShown) return;
    addEffect(call, 'system', 'dpkg');
    addUnknown(call, call.args[0]);
  },
  'yum dnf zypper pacman apk emerge port snap flatpak nix nix-env brew rpm': toPackages({
    shows: /^$/,
    isSystem: true,
  }),
});
