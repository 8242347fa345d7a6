// Why there is an entry for Workers: the ordinary one compiles at run time, which they refuse.
import { sanitize } from 'toolwire';

export default {
  test() {
    sanitize({}, { dialect: 'codex' }).schema;
  },
};
