import { readdir } from 'node:fs/promises';
import type { CommandReading } from '../../permissions/command-reading.ts';

interface Ecosystem {
  /** Files of a project that uses it. */
  files: RegExp;
  /** Programs that install its packages. */
  programs: readonly string[];
  hosts: readonly string[];
}

const ECOSYSTEMS: readonly Ecosystem[] = [
  {
    files: /^(package\.json|package-lock\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|deno\.jsonc?)$/,
    programs: ['npm', 'npx', 'pnpm', 'pnpx', 'yarn', 'bun', 'bunx', 'deno', 'corepack'],
    hosts: ['registry.npmjs.org', 'registry.yarnpkg.com', 'jsr.io', 'npm.jsr.io', 'nodejs.org'],
  },
  {
    files:
      /^(pyproject\.toml|requirements.*\.txt|setup\.(py|cfg)|Pipfile(\.lock)?|poetry\.lock|uv\.lock|environment\.ya?ml)$/,
    programs: ['pip', 'pip3', 'pipx', 'uv', 'uvx', 'poetry', 'pipenv', 'pdm', 'python', 'python3'],
    hosts: ['pypi.org', 'files.pythonhosted.org'],
  },
  {
    files: /^(Cargo\.toml|Cargo\.lock)$/,
    programs: ['cargo'],
    hosts: ['index.crates.io', 'crates.io', 'static.crates.io'],
  },
  {
    files: /^(go\.mod|go\.sum|go\.work)$/,
    programs: ['go'],
    hosts: ['proxy.golang.org', 'sum.golang.org'],
  },
  {
    files: /^(pom\.xml|build\.gradle(\.kts)?|settings\.gradle(\.kts)?|gradlew|mvnw|build\.sbt)$/,
    programs: ['mvn', 'gradle', 'gradlew', 'mvnw', 'sbt'],
    hosts: [
      ...['repo.maven.apache.org', 'repo1.maven.org', 'plugins.gradle.org', 'plugins-artifacts.gradle.org'],
      ...['services.gradle.org', 'downloads.gradle.org'],
    ],
  },
  {
    files: /^(Gemfile(\.lock)?|.*\.gemspec)$/,
    programs: ['gem', 'bundle', 'bundler'],
    hosts: ['rubygems.org', 'index.rubygems.org'],
  },
  {
    files: /^composer\.(json|lock)$/,
    programs: ['composer'],
    hosts: ['repo.packagist.org', 'packagist.org'],
  },
  {
    files: /^(.*\.(cs|fs|vb)proj|.*\.sln|nuget\.config|global\.json)$/,
    programs: ['dotnet', 'nuget'],
    hosts: ['api.nuget.org'],
  },
  {
    files: /^mix\.(exs|lock)$/,
    programs: ['mix', 'rebar3'],
    hosts: ['hex.pm', 'repo.hex.pm', 'builds.hex.pm'],
  },
];

/**
 * The hosts from which the project's packages come: those of the ecosystems whose files lie in a root, and of the
 * package managers that the command starts.
 */
export async function findRegistries(reading: CommandReading | undefined, ways: readonly string[]): Promise<string[]> {
  const names = (await Promise.all(ways.map((way) => readdir(way).catch(() => [])))).flat();
  const programs = new Set(
    reading?.commands.map(({ words }) => words[0]?.value?.split('/').at(-1) ?? '').filter((name) => name !== ''),
  );
  const used = ECOSYSTEMS.filter(
    ({ files, programs: installers }) =>
      names.some((name) => files.test(name)) || installers.some((name) => programs.has(name)),
  );
  return [...new Set(used.flatMap(({ hosts }) => hosts))];
}
