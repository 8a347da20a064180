/** Variables that no program takes for a command, a library, a folder or an option. */
const HARMLESS =
  /^(LANG|LANGUAGE|LC_\w+|TZ|CI|TERM|COLUMNS|LINES|IFS|NO_COLOR|FORCE_COLOR|CLICOLOR\w*|NODE_ENV|DEBIAN_FRONTEND|GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)|RUST_(BACKTRACE|LOG)|CGO_ENABLED|GOOS|GOARCH|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|PORT|VERBOSE|SOURCE_DATE_EPOCH)$/;

/** Variables that a command inherits, or that the shell itself obeys: setting them changes what runs later. */
const OBEYED =
  /^(PATH|HOME|SHELL|TMPDIR|USER|LOGNAME|PS4|CDPATH|ENV|BASH\w*|SHELLOPTS|LD_\w+|DYLD_\w+|\w*_(proxy|PROXY)|GLOBIGNORE|EXECIGNORE|PROMPT_COMMAND|POSIXLY_CORRECT|SSL_CERT_\w+|NODE_\w+|HEADGATE_\w+|GIT_\w+)$/;

/** Whether a variable that programs receive may change what they do. */
export const mayChangePrograms = (name: string): boolean => !HARMLESS.test(name);

/** Whether setting a variable in the shell, without exporting it, may change what runs. */
export const isObeyed = (name: string): boolean => OBEYED.test(name) && !HARMLESS.test(name);
