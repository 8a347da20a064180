import type { ShellWord } from '../../reading/shell-word.ts';
import { addUnknown, addUse, type ProgramCall, type ProgramRule } from '../program.ts';
import { toRules } from '../rows.ts';
import { addFolder } from '../targets.ts';

/** Whether a call only shows the version or the help. */
export const isVersion = (args: readonly ShellWord[]): boolean =>
  args.length === 1 && /^(--version|-v|-V|version|--help|-h)$/.test(args[0]?.value ?? '');

/** Options and settings that name other files, programs or settings than those of the project. */
const LEADS_ELSEWHERE =
  /^~|[=:@][/~]|^--?(ev|eval|init-script|init-file|settings|global-settings|require|import|loader|rcfile|config-file|basetemp|rootdir|confcutdir|output|out|outfile|outdir|out-dir)\b|^(SHELL|MAKEFLAGS|MAKEFILES|CC|CXX|LD|AR|PATH)[:+?]?=|^-[fEIo]|^-D\w*(exec|command)/i;
const IS_ELSEWHERE = /^\/|(^|[/=])\.\.(\/|$)/;

/** Builds, checks or tests the project: runs what its files say, which may change anything in it. */
export function addBuild(call: ProgramCall): void {
  const shown = [call.name, ...call.args.slice(0, 2).map(({ written }) => written)].join(' ');
  call.findings.addEffect({ kind: 'unknown', target: shown, certain: false, isProject: true });
  addFolder(call, 'write');
  for (const word of call.args) {
    const text = word.value ?? word.start;
    if (IS_ELSEWHERE.test(text)) addUse(call, 'write', word);
    else if (word.isFree || LEADS_ELSEWHERE.test(text)) addUnknown(call, word);
  }
}

const builds: ProgramRule = (call) => {
  if (!isVersion(call.args)) addBuild(call);
};

/** `-C folder` comes first, whatever the program. */
const makes: ProgramRule = (call) => {
  const [first, folder, ...rest] = call.args;
  if (first?.value !== '-C' || folder === undefined) {
    builds(call);
    return;
  }
  addUse(call, 'write', folder);
  builds({ ...call, args: rest });
};

/** Rules of programs that build and check projects. */
export const BUILDS = toRules({
  'make gmake ninja': makes,
  'cmake ctest meson bazel mvn gradle ant rake just task tox nox sbt cabal stack': builds,
  'pytest py.test mypy ruff flake8 black isort pylint pyright tsc eslint prettier biome jest vitest mocha stylelint phpunit rspec rubocop gofmt rustfmt clang-format shellcheck':
    builds,
});
