/** True for builds that only tests and the demo use (scripts/build.sh): compiled quickly, with the same behavior as a release. */
export const QUICK = process.env.TOOLWIRE_BUILD === 'quick';
