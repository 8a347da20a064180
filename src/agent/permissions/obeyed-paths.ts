import { READ_PLACES } from '../project/project-places.ts';
import { isSecretPath } from '../tools/files/secret-path.ts';

/**
 * Files and folders of a project that make other programs run something later, or that hold their settings. In small
 * letters, because not all file systems tell them from capital ones.
 */
const OBEYED: readonly string[] = [
  ...READ_PLACES.map((each) => each.toLowerCase()),
  ...['.git', '.gitmodules', '.husky', '.vscode', '.idea', '.devcontainer', '.envrc', '.direnv', '.mcp.json'],
  ...['.cursor', '.codex', '.gemini', '.github/copilot-instructions.md'],
  ...['.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.bash_aliases', '.profile', '.zshrc', '.zshenv'],
  ...['.zprofile', '.zlogin', '.inputrc', '.gitconfig', '.ssh', '.npmrc', '.yarnrc', '.yarnrc.yml', '.pypirc'],
  ...[
    '.vimrc',
    '.exrc',
    '.nvimrc',
    '.tmux.conf',
    '.screenrc',
    '.config',
    '.local',
    '.gnupg',
    '.aws',
    '.kube',
    '.docker',
  ],
  ...['node_modules/.bin', '.venv/bin', 'venv/bin', '.cargo/config.toml', '.cargo/config', '.lldbinit', '.gdbinit'],
];

/** Whether a path of a project, relative to its root, is one of these or below one, at any depth, or holds credentials. */
export function isObeyedPath(relative: string): boolean {
  const names = `/${relative}/`.toLowerCase();
  return OBEYED.some((each) => names.includes(`/${each}/`)) || isSecretPath(relative);
}

/** Hidden files whose names begin with a dot, as samples of what a pattern such as `.e*` is meant for. */
export const HIDDEN_SECRETS: readonly string[] = [
  '.env',
  '.envrc',
  '.netrc',
  '.npmrc',
  '.git-credentials',
  '.ssh',
  '.aws',
];
/** The same for files that other programs obey. */
export const HIDDEN_OBEYED: readonly string[] = OBEYED.filter((each) => each.startsWith('.'));
