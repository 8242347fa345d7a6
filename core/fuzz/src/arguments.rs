//! To come.

pub(crate) fn verdict(_data: &[u8]) -> Result<(), String> {
    Ok(())
}
