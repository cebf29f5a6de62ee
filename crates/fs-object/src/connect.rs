//! From a URL to the client of its store.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::{
    BackoffConfig, ClientConfigKey, Error, ObjectStore, ObjectStoreScheme, RetryConfig, path::Path as Key,
};
use url::Url;

use crate::config::{ConfigError, ObjectFsConfig, holds_secrets, without_secrets};

/// The store that a URL names, and the prefix in it.
pub(crate) fn connect(config: &ObjectFsConfig) -> Result<(Arc<dyn ObjectStore>, Key), ConfigError> {
    config.check()?;
    let shown = || without_secrets(&config.url);
    let url = Url::parse(&config.url).map_err(|_| ConfigError::Url(shown()))?;
    if holds_secrets(&url) {
        return Err(ConfigError::Secrets(shown()));
    }
    let (scheme, prefix) = ObjectStoreScheme::parse(&url).map_err(|_| ConfigError::Url(shown()))?;
    choose_cryptography();
    let made = match scheme {
        ObjectStoreScheme::AmazonS3 => s3(config),
        ObjectStoreScheme::MicrosoftAzure => azure(config),
        ObjectStoreScheme::GoogleCloudStorage => google(config),
        _ => return Err(ConfigError::Url(shown())),
    };
    let store = made.map_err(|source| ConfigError::Client { url: shown(), source })?;
    Ok((store, prefix))
}

/// Gives TLS its cryptography (ring), for the process; a host that has chosen some keeps it. Has to come before a client that
/// is built by hand for [`ObjectFileSystem::over`](crate::ObjectFileSystem::over), which panics without; what is opened by
/// a URL needs no call.
pub fn choose_cryptography() {
    // The only error is that another was chosen before.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

fn s3(config: &ObjectFsConfig) -> Result<Arc<dyn ObjectStore>, Error> {
    let mut builder = AmazonS3Builder::from_env().with_url(&config.url).with_retry(retries(config));
    for (key, value) in client(config) {
        builder = builder.with_config(AmazonS3ConfigKey::Client(key), value);
    }
    if let Some(region) = &config.region {
        builder = builder.with_region(region);
    }
    if let Some(endpoint) = &config.endpoint {
        builder = builder.with_endpoint(endpoint);
    }
    Ok(Arc::new(builder.build()?))
}

fn azure(config: &ObjectFsConfig) -> Result<Arc<dyn ObjectStore>, Error> {
    let mut builder = MicrosoftAzureBuilder::from_env().with_url(&config.url).with_retry(retries(config));
    for (key, value) in client(config) {
        builder = builder.with_config(AzureConfigKey::Client(key), value);
    }
    if let Some(endpoint) = &config.endpoint {
        builder = builder.with_endpoint(endpoint.clone());
    }
    Ok(Arc::new(builder.build()?))
}

fn google(config: &ObjectFsConfig) -> Result<Arc<dyn ObjectStore>, Error> {
    let mut builder = GoogleCloudStorageBuilder::from_env().with_url(&config.url).with_retry(retries(config));
    for (key, value) in client(config) {
        builder = builder.with_config(GoogleConfigKey::Client(key), value);
    }
    if let Some(endpoint) = &config.endpoint {
        builder = builder.with_config(GoogleConfigKey::BaseUrl, endpoint);
    }
    Ok(Arc::new(builder.build()?))
}

/// What all clients are told. An endpoint without TLS that the environment permits stays permitted.
fn client(config: &ObjectFsConfig) -> Vec<(ClientConfigKey, String)> {
    let mut options = vec![(ClientConfigKey::Timeout, format!("{} ms", config.request_timeout_ms))];
    if config.allow_http {
        options.push((ClientConfigKey::AllowHttp, true.to_string()));
    }
    options
}

fn retries(config: &ObjectFsConfig) -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(50),
            max_backoff: Duration::from_secs(5),
            base: 2.0,
        },
        max_retries: 10,
        retry_timeout: Duration::from_millis(config.retry_timeout_ms),
    }
}
