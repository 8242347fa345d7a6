// The reason for the entry point for Workers: the ordinary one compiles at run time, which Workers refuse.
import { sanitize } from 'toolwire';

export default {
  test() {
    sanitize({}, { dialect: 'codex' }).schema;
  },
};
